/** Reconciles Templates: content and published version of the template with their name in an account. */
import { mirrorState } from '../../../services/mail/managed-records.ts'
import {
  type DeclaredTemplate,
  declareTemplate,
  leaveTemplates,
  type TemplateResourceDeps,
  templateAccounts,
  withdrawTemplates,
} from '../../../services/mail/templates/declare-template.ts'
import { sentence } from '../../../services/platform/sentences/sentence.ts'
import type { EventInput } from '../../kube/event-recorder.ts'
import { Template } from '../../resources/template.ts'
import { toSeconds } from '../shared/conditions.ts'
import { accountOf } from '../shared/declared-account.ts'
import { driftOf } from '../shared/drift.ts'
import { leaveLostAccounts } from '../shared/lost-accounts.ts'
import { ADOPT_ANNOTATION, namespaceAccount, wantsToAdopt } from '../shared/namespace-owners.ts'
import { managedBy, type OperatorContext } from '../shared/operator-context.ts'
import { accepted, type Outcome, type Reconciler } from '../shared/reconcile.ts'
import { refusalOf } from '../shared/use-case-errors.ts'
import { CONFIG_MAP_MS, contentOf, fieldOf } from './template-content.ts'

type Spec = Template['spec']
type Status = NonNullable<Template['status']>

/** The reconciler of Templates. */
export function templateReconciler(context: OperatorContext): Reconciler<Spec, Status> {
  const { mongo, clock } = context
  const deps = (resource: Template) => ({ mongo, clock, resource: managedBy(resource) })
  return {
    kind: Template,
    async ensure(resource) {
      const events = await leaveLost(context, deps(resource), resource)
      const outcome = await ensure(context, deps(resource), resource)
      // ConfigMaps are not watched.
      const again = resource.spec.htmlFrom || resource.spec.textFrom ? { requeueAfterMs: CONFIG_MAP_MS } : {}
      return { ...again, ...outcome, events: [...events, ...(outcome.events ?? [])] }
    },
    async remove(resource, retain) {
      await leaveLost(context, deps(resource), resource)
      await withdrawTemplates(deps(resource), retain ? 'Retain' : resource.spec.deletionPolicy)
      return { done: true }
    },
    mirror: (id, uid, state) => mirrorState(mongo.db, 'Template', uid, id, state),
  }
}

async function leaveLost(
  context: OperatorContext,
  deps: TemplateResourceDeps,
  { metadata: { namespace, name } }: Template,
): Promise<EventInput[]> {
  return leaveLostAccounts(context, namespace, await templateAccounts(deps), {
    what: `The template of ${name}`,
    leave: account => leaveTemplates(deps, account),
  })
}

async function ensure(context: OperatorContext, deps: TemplateResourceDeps, resource: Template): Promise<Outcome> {
  const { spec, metadata } = resource
  const own = namespaceAccount(metadata.namespace)
  const account = await accountOf(context, metadata.namespace, spec.owner?.username ?? own)
  if ('condition' in account) return { conditions: [account.condition] }
  const content = await contentOf(context, resource)
  if ('condition' in content) return { conditions: [content.condition] }
  const name = spec.templateName ?? metadata.name
  // No other namespace or person acts for the namespace's own account: what it has is taken over.
  const takeover = { adopt: wantsToAdopt(metadata) || account.username === own, annotation: ADOPT_ANNOTATION }
  try {
    const declared = await declareTemplate(deps, account._id, { name, ...content }, takeover)
    return { ...published(resource, declared, account.username), ...drift(context, resource, declared) }
  } catch (error) {
    return refusalOf(error, pointer => fieldOf(resource, pointer))
  }
}

function published(resource: Template, { template, version }: DeclaredTemplate, account: string): Outcome {
  const { name } = template
  const at = template.published?.at
  return {
    conditions: [accepted(sentence('resource.template_accepted', { name, account }))],
    message: sentence('resource.template_ready', { name, version }),
    status: {
      templateId: template._id,
      owner: account,
      version,
      ...(at && { publishedTime: toSeconds(at) }),
      variables: resource.spec.variables.map(({ key }) => key),
    },
    recordId: template._id,
  }
}

function drift(context: OperatorContext, resource: Template, { outcome }: DeclaredTemplate): { events: EventInput[] } {
  // A ConfigMap may have changed: that is no change from outside.
  const isElsewhere = resource.spec.htmlFrom !== undefined || resource.spec.textFrom !== undefined
  const known = resource.status?.templateId !== undefined && !(isElsewhere && outcome === 'updated')
  return { events: driftOf(context, resource, outcome, known) }
}
