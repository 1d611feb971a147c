/** Sending domains for callers outside of this subject. Each lookup reads the database; undefined when there is none. */
export type { CheckSummaryDoc, DomainDoc, RecordCheckDoc } from './store/domain-model.ts'
export {
  domainsOfResource as listDomainsOfResource,
  findDomain as findDomainOfAccount,
  findDomainById as currentDomain,
  findDomainOfResource,
} from './store/domains.ts'
