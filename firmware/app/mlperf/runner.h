/* The device's side of MLPerf Tiny's runner (mlcommons/tiny, benchmark/api and benchmark/runner).
 *
 * A command is words that end in `%`, at most 80 characters.  Every command is answered by lines,
 * the last of which is `m-ready`; errors are `e-[...]`.
 *
 *     name                  m-name-dut-[...]
 *     profile               m-profile-[...], m-model-[ic01]
 *     timestamp             m-lap-us-N; in energy mode a pulse at a pin, where the board has one
 *     db load N             m-[Expecting N bytes]
 *     db 007f80ff           takes bytes; m-load-done with the last one
 *     db print              the bytes
 *     infer N W             W runs to warm up (10), then N (1) between two time stamps; results
 *     results               m-results-[...], the outputs of the last run
 *     help
 *
 * Source: internally_implemented.cpp of mlcommons/tiny, whose texts the runner searches for. */
#ifndef EDGEC_APP_RUNNER_H
#define EDGEC_APP_RUNNER_H

/* Say that the device is there; `board` goes into its name. */
void runner_begin(const char *board);

/* Take one character off the line; at the end of a command, do what it asks. */
void runner_receive(char character);

#endif
