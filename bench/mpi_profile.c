/* Counts what a program sends by MPI, and the CPU time it spends inside (waiting spins): loaded before the program with LD_PRELOAD.
   bench/ranks.py builds it and reads the line that each rank appends to the file $MPI_PROFILE. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double inside, began;
static long long calls, bytes;

static double cpu(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double all_threads(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int MPI_Allgatherv(const void *send, int count, MPI_Datatype type, void *to, const int sizes[], const int at[], MPI_Datatype to_type,
                   MPI_Comm comm) {
  const double start = cpu();
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (int r = 0; r < ranks; ++r) bytes += r == rank ? 0 : sizes[r];
  ++calls;
  const int code = PMPI_Allgatherv(send, count, type, to, sizes, at, to_type, comm);
  inside += cpu() - start;
  return code;
}

int MPI_Alltoallv(const void *send, const int out[], const int out_at[], MPI_Datatype type, void *to, const int in[], const int in_at[],
                  MPI_Datatype to_type, MPI_Comm comm) {
  const double start = cpu();
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (int r = 0; r < ranks; ++r) bytes += r == rank ? 0 : in[r];
  ++calls;
  const int code = PMPI_Alltoallv(send, out, out_at, type, to, in, in_at, to_type, comm);
  inside += cpu() - start;
  return code;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
  const int code = PMPI_Init_thread(argc, argv, required, provided);
  began = all_threads();
  return code;
}

int MPI_Finalize(void) {
  const char *path = getenv("MPI_PROFILE");
  FILE *file = path != NULL ? fopen(path, "a") : NULL;
  if (file != NULL) {
    fprintf(file, "%.6f %.6f %lld %lld\n", all_threads() - began - inside, inside, calls, bytes);
    fclose(file);
  }
  return PMPI_Finalize();
}
