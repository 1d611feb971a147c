/** A program that a test needs and this machine does not have: the test is skipped by name, see runner.ts. */
export class MissingProgram extends Error {
  readonly reason: string
  readonly install: string

  /** `install`: the command that brings it, or what else to do. */
  constructor(reason: string, install: string) {
    super(`${reason}; to run this test: ${install}`)
    this.name = 'MissingProgram'
    this.reason = reason
    this.install = install
  }
}

/** The command that installs these packages of Debian and Ubuntu. */
export const aptInstall = (packages: string) => `apt-get install --no-install-recommends ${packages}`
