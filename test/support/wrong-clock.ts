/** Loaded with `--import` before a main: the process then runs with a wrong clock. */
import { setMachineClock } from './time/machine-clock.ts'

setMachineClock(Number(process.env.TEST_CLOCK_AHEAD_MS))
