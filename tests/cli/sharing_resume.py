#!/usr/bin/env python3
"""Kills `sharelearn fit sharing --follow --checkpoint` at random moments and compares the predictions of the
resumed runs with an uninterrupted run; then sends it Ctrl-C while it waits for input.

    sharing_resume.py SHARELEARN [--kills 50] [--hypotheses hybrid]
"""
import argparse
import os
import random
import re
import signal
import subprocess
import tempfile
import time


def write_stream(path, rows, seed):
    """Rows of named words; new classes appear throughout."""
    rng = random.Random(seed)
    with open(path, "w", encoding="utf-8") as out:
        for t in range(rows):
            known = 3 + t * 40 // rows
            label = rng.randrange(known)
            words = {f"w{label * 7 + rng.randrange(12)}" for _ in range(8)}
            words |= {f"common{rng.randrange(30)}" for _ in range(4)}
            words.add(f"rare{rng.randrange(rows)}")
            out.write(f"class{label} " + " ".join(sorted(words)) + "\n")


def interrupt(program, folder):
    """Ctrl-C while the program waits for input: the model is written as at the end of the input."""
    model, checkpoint = os.path.join(folder, "m"), os.path.join(folder, "c")
    process = subprocess.Popen([program, "fit", "sharing", "-", "--follow", "-o", model, "--checkpoint", checkpoint],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdin.write("a 1:1\nb 2:1\n 2:1\nb 2:")
    process.stdin.flush()
    answers = [process.stdout.readline().strip() for _ in range(3)]
    assert answers == ["?", "a", "a"], answers
    process.send_signal(signal.SIGINT)
    _, message = process.communicate(timeout=60)
    assert process.returncode == 130 and "interrupted after line 3" in message, (process.returncode, message)
    for path in (model, checkpoint):
        text = subprocess.run([program, "describe", path], check=True, capture_output=True, text=True).stdout
        assert "2 examples" in text, text


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sharelearn")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--rows", type=int, default=40000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--hypotheses", default="hybrid")
    args = parser.parse_args()
    rng = random.Random(args.seed)
    with tempfile.TemporaryDirectory() as folder:
        interrupt(args.sharelearn, folder)
        data = os.path.join(folder, "stream.txt")
        checkpoint = os.path.join(folder, "checkpoint")
        write_stream(data, args.rows, args.seed)
        base = [args.sharelearn, "fit", "sharing", data, "--names", "--follow", "--quiet", "--map", "frequency",
                "--hypotheses", args.hypotheses]
        start = time.time()
        whole = subprocess.run(base, check=True, capture_output=True, text=True).stdout.splitlines()
        assert len(whole) == args.rows, len(whole)
        duration = time.time() - start

        def resumed(kill_after):
            command = base + ["--checkpoint", checkpoint, "--every", "200"]
            with open(os.path.join(folder, "out"), "w+") as out, open(os.path.join(folder, "err"), "w+") as err:
                process = subprocess.Popen(command, stdout=out, stderr=err)
                if kill_after is None:
                    code = process.wait()
                    assert code == 0, code
                else:
                    try:
                        process.wait(timeout=kill_after)
                    except subprocess.TimeoutExpired:
                        process.kill()
                        process.wait()
                out.seek(0)
                err.seek(0)
                text, message = out.read(), err.read()
            found = re.search(r"after line (\d+)", message)
            first = int(found.group(1)) if found else 0
            lines = text.split("\n")[:-1]  # a line truncated by the kill is not a prediction
            assert whole[first:first + len(lines)] == lines, f"different predictions after line {first}"
            return first, len(lines)

        restarts = 0
        for _ in range(args.kills):
            first, _ = resumed(rng.random() * duration * 0.8)
            restarts += first > 0
            if first == args.rows:
                os.remove(checkpoint)  # the run was not interrupted: start over
        assert args.kills < 10 or restarts > args.kills // 4, f"only {restarts} runs were resumed: give more --rows"
        first, lines = resumed(None)
        assert first + lines == args.rows
        print(f"{args.kills} kills, {restarts} of them in a resumed run; all predictions equal the uninterrupted run's")


if __name__ == "__main__":
    main()
