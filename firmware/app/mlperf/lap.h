/* Time stamps as MLPerf Tiny's runner takes them. */
#ifndef EDGEC_APP_LAP_H
#define EDGEC_APP_LAP_H

/* Say the time in microseconds, `m-lap-us-N`; in energy mode let the board's pin fall instead,
 * where it has one.  Time stands still while nothing is computed: only differences within one
 * `infer` mean something. */
void lap_stamp(void);

/* Count what has passed; at least every 2^32 cycles. */
void lap_count(void);

#endif
