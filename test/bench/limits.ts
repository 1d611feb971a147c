/** Limit of an account over two SMTP and two HTTP processes: `limits [SECONDS] [RATE]`. */
import { runLimitedLoad } from '../support/mail/limited-load.ts'

const [seconds = '60', rate = '10'] = process.argv.slice(2)
const report = await runLimitedLoad({ seconds: Number(seconds), rate: Number(rate) })
process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`)
