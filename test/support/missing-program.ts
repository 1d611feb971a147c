/** A program that a test needs and this machine does not have: the test is skipped by name, see runner.ts. */
export class MissingProgram extends Error {
  /** `package_`: the Debian package that has it. */
  constructor(reason: string, package_?: string) {
    super(package_ ? `${reason}; to run this test: apt-get install --no-install-recommends ${package_}` : reason)
    this.name = 'MissingProgram'
  }
}
