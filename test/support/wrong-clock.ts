/** Loaded with `--import` before a main: the process then runs as on a machine whose clock is wrong. */
import { setMachineClock } from './time/machine-clock.ts'

setMachineClock(Number(process.env.TEST_CLOCK_AHEAD_MS))
