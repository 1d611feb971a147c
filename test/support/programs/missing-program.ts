/** A program that a test needs and this machine lacks: the test is skipped with the reason, see runner.ts. */
export class MissingProgram extends Error {
  readonly reason: string
  readonly install: string

  /** `install`: the command that installs it, or other instructions. */
  constructor(reason: string, install: string) {
    super(`${reason}; to run this test: ${install}`)
    this.name = 'MissingProgram'
    this.reason = reason
    this.install = install
  }
}

/** The command that installs these Debian or Ubuntu packages. */
export const aptInstall = (packages: string) => `apt-get install --no-install-recommends ${packages}`
