/** Histograms under the names of the release before: dashboards and alerts of users go on while they are changed. */
import { Histogram, type Registry } from 'prom-client'

type Values = Awaited<ReturnType<Histogram['get']>>

/** Exports what `source` observes under a former name, too. Nothing is observed twice: the copy is made when scraped. */
export function exportFormerName(registry: Registry, source: Histogram, name: string, formerName: string): void {
  registry.registerMetric(new FormerName(source, name, formerName))
}

class FormerName extends Histogram {
  readonly #read: () => Promise<Values>

  constructor(source: Histogram, name: string, formerName: string) {
    const help = `Deprecated, removed in the next release: the former name of ${name}.`
    super({ name: formerName, help, registers: [] })
    this.#read = async () => {
      const { values, ...rest } = await source.get()
      const renamed = values.map(value => ({ ...value, metricName: value.metricName?.replace(name, formerName) ?? '' }))
      return { ...rest, name: formerName, help, values: renamed }
    }
  }

  override get(): Promise<Values> {
    return this.#read()
  }

  /** The registry prefers this method of the library, which its types do not name, when it prints. */
  getForPromString(): Promise<Values> {
    return this.#read()
  }
}
