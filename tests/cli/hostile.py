"""The program with hostile files and on a starved machine: full or closed standard error, control characters in
names, archives that unpack to gigabytes, headers that take long to read, models cut off or made to do harm."""
import gzip
import io
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time

PROGRAM = os.path.abspath(sys.argv[1])
LINES = "".join(f"{'ab'[i % 2]} {1 + i % 3}:1 4:{i}\n" for i in range(40))


def run(*arguments, shell_end="", data=None, seconds=60):
    command = " ".join(f"'{a}'" for a in (PROGRAM, *arguments)) + " " + shell_end
    return subprocess.run(["bash", "-c", command], input=data, capture_output=True, timeout=seconds)


def check(holds, what, result=None):
    if holds:
        return
    print("failed:", what, *((result.returncode, result.stdout[:300], result.stderr[:300]) if result else ()))
    sys.exit(1)


def unwritable_standard_error():
    """Messages that cannot be written are lost; the model is not."""
    for end in ("2>/dev/full", "2>&-"):
        if os.path.exists("m.shl"):
            os.remove("m.shl")
        bad = LINES + "c 0:0\n" * 30 + "c 2:1\n"
        r = run("fit", "sharing", "-", "-o", "m.shl", "--on-error", "skip", shell_end=end, data=bad.encode())
        check(r.returncode == 0 and os.path.exists("m.shl"), f"a stream goes on with {end}", r)
        r = run("describe", "m.shl")
        check(b"41 examples" in r.stdout, "everything was learned", r)
        r = run("predict", "none.shl", "none.svm", shell_end=end)
        check(r.returncode == 2, f"an error with {end}", r)


def interrupted_with_full_standard_error():
    with open("/dev/full", "w") as full:
        child = subprocess.Popen([PROGRAM, "fit", "sharing", "-", "-o", "i.shl", "--follow"],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=full)
        child.stdin.write(LINES.encode())
        child.stdin.flush()
        for _ in range(40):
            child.stdout.readline()
        child.send_signal(signal.SIGINT)
        child.stdout.read()
        check(child.wait(60) == 130 and os.path.exists("i.shl"), "an interrupted stream keeps its model")


def control_characters():
    r = run("fit", "sharing", "-", "-o", "c.shl", data=b"\x1b[2Jevil 1:1\nb 2:1\n" * 3)
    check(r.returncode == 0, "a label with an escape sequence is learned", r)
    r = run("describe", "c.shl")
    check(b"\x1b" not in r.stdout and b"\\x1B[2Jevil" in r.stdout, "describe escapes it", r)
    r = run("fit", "sharing", "-", "-o", "c.shl", data=b"a \x1b[2J:1\n" * 3)
    check(r.returncode == 2 and b"\x1b" not in r.stderr, "so do messages", r)


def gzip_bomb():
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", compresslevel=9, mtime=0) as packed:
        for _ in range(600):
            packed.write(b"1 1:1\n" * 170_000)
    with open("bomb.gz", "wb") as file:
        file.write(buffer.getvalue())
    r = run("fit", "shareboost", "bomb.gz", "--max-memory", "300M", "-o", "b.shl", seconds=300)
    check(r.returncode == 1 and b"--max-memory" in r.stderr and b"needs" in r.stderr, "a bomb is refused", r)
    check(not os.path.exists("b.shl"), "and nothing is written")


def padded_images():
    """Rows of one pixel are padded in memory: the file names gigabytes that it does not have."""
    with open("one.idx", "wb") as file:
        file.write(bytes([0, 0, 8, 2]) + struct.pack(">II", 1, 20_000_000) + bytes(20_000_000))
    r = run("predict", "m.shl", "one.idx", "--label-column", "none", "--max-memory", "300M")
    check(r.returncode == 1 and b"needs" in r.stderr, "padding counts", r)


def long_headers():
    os.makedirs("mails/a", exist_ok=True)
    for name, part in (("opened", "=?"), ("charset", "=?x"), ("word", "=?x?q?"), ("pair", "=?x?q? =?")):
        with open(f"mails/a/{name}", "w") as file:
            file.write("From: a@b\nSubject: " + part * (240_000 // len(part)) + "\n\nbody\n")
    begin = time.process_time() + sum(os.times()[2:4])
    r = run("words", "mails", "--names", seconds=120)
    spent = time.process_time() + sum(os.times()[2:4]) - begin
    check(r.returncode == 0 and spent < 20, f"headers are read in linear time ({spent:.1f} s)", r)


def starved_of_threads():
    run("fit", "sharing", "-", "-o", "t.shl", data=LINES.encode())
    with open("t.svm", "w") as file:
        file.write(LINES)
    for limit in (60_000, 100_000, 200_000, 400_000):
        r = subprocess.run(["bash", "-c", f"ulimit -v {limit}; exec '{PROGRAM}' predict t.shl t.svm --threads 64"],
                           capture_output=True, timeout=60)
        check(r.returncode in (0, 1), f"with {limit} KB it predicts or fails, and does not hang", r)


def thousands_of_classes():
    """Methods that hold a score per row and class say what they need before they take it; streams just learn."""
    with open("classes.svm", "w") as file:
        for c in range(10_000):
            file.write(f"c{c} {1 + c % 97}:1 {101 + c % 89}:1\n")
    methods = (("shareboost",), ("gradboost",), ("adaboost",), ("cascade",), ("treelasso", "--loss", "multiclass-hinge"), ("treelasso",), ("jointboost",))
    for method in methods:
        r = run("fit", *method, "classes.svm", "--max-memory", "1G", "-o", "many.shl", "--quiet")
        check(r.returncode == 1 and b"10000 rows and 10000 classes" in r.stderr and b"needs" in r.stderr and b"--max-memory" in r.stderr,
              f"{method[0]} refuses 10,000 classes of 10,000 rows by name and size", r)
        check(not os.path.exists("many.shl"), "and writes nothing")
    online = ("cascade", "--online", "--levels", "2", "--phi", "0.001")
    r = run("fit", *online, "classes.svm", "--max-memory", "500M", "-o", "many.shl", "--quiet")
    check(r.returncode == 1 and b"without --stream" in r.stderr and b"needs" in r.stderr, "so does the online cascade, whose report has errors", r)
    r = run("fit", "sharing", "classes.svm", "--max-memory", "1G", "-o", "many.shl", "--quiet")
    check(r.returncode == 0 and os.path.exists("many.shl"), "sharing learns 10,000 classes", r)


def sizes_that_overflow():
    """2^58 features of 40 rows, padded to 64, would be an array of 2^64 numbers."""
    for count in (1 << 58, (1 << 63) - 1, (1 << 24) + 1):
        r = run("fit", "cascade", "-", "--phi", "0.1", "--levels", "1", "--fourier", str(count), data=LINES.encode())
        check(r.returncode == 2 and b"random Fourier features" in r.stderr, f"{count} features are refused", r)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for test in (unwritable_standard_error, interrupted_with_full_standard_error, control_characters, gzip_bomb,
                     padded_images, long_headers, starved_of_threads, thousands_of_classes,
                     sizes_that_overflow):
            test()
        os.chdir("/")


main()
