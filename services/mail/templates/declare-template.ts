/** Templates that Kubernetes resources declare: content and publication follow the resource. */
import { isDeepStrictEqual } from 'node:util'
import { type ManagedBy, managedText } from '../../platform/managed/rules/managed-by.ts'
import { ProblemError, refuseFields } from '../../platform/problems.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import { refuseManaged } from '../managed.ts'
import { createTemplate, publishTemplate, removeTemplate, type TemplateDeps } from './manage-templates.ts'
import type { TemplateContent } from './rendering/render-template.ts'
import { TEMPLATE_LIMITS } from './rules/template-limits.ts'
import { isTemplateName } from './rules/template-name.ts'
import { findTemplate, type TemplateDoc, templatesOfResource, updateTemplate } from './store/templates.ts'
import { fromStored, refuseContent, toStored } from './stored-content.ts'

/** Use cases run for a resource. */
export type TemplateResourceDeps = TemplateDeps & { resource: ManagedBy }

/** How a resource may treat a template that no resource manages. */
export interface Takeover {
  adopt: boolean
  /** Name of the annotation that asks for it, for the message of a refusal. */
  annotation: string
}

/** The published template of a resource. */
export interface DeclaredTemplate {
  template: TemplateDoc
  version: number
  /** What happened to the content. */
  outcome: 'created' | 'updated' | 'unchanged'
}

/**
 * Creates and publishes the template with this name, or makes it as declared; a change of the content becomes a version of
 * its own. Parts of a message belong together, so a part that is not declared is removed. A template that no resource manages is
 * taken over with `adopt`, or if a resource of this namespace released it. Throws `validation_failed` with every error of the content, `conflict` for a
 * template that it may not take over, and `managed_by_resource`.
 */
export async function declareTemplate(
  deps: TemplateResourceDeps,
  userId: string,
  { name, ...content }: TemplateContent & { name: string },
  takeover: Takeover,
): Promise<DeclaredTemplate> {
  const { mongo, resource } = deps
  if (!isTemplateName(name)) throw refuseFields([{ pointer: '/name', reason: sentence('field.template_name') }])
  refuseSize(content)
  const known = await findTemplate(mongo.db, userId, name)
  const { template, outcome } = known
    ? await takeOver(deps, known, content, takeover)
    : { template: await createTemplate(deps, userId, { name, ...content }), outcome: 'created' as const }
  // Also after an earlier run that ended between both steps.
  const published = await publishTemplate(deps, userId, template._id, { name: managedText(resource) })
  return { ...published, outcome }
}

/** A ConfigMap may hold more than a part may have. */
function refuseSize({ html = '', text = '' }: TemplateContent): void {
  const parts = [
    ['/html', html, TEMPLATE_LIMITS.htmlBytes],
    ['/text', text, TEMPLATE_LIMITS.textBytes],
  ] as const
  const errors = parts
    .filter(([, value, count]) => Buffer.byteLength(value) > count)
    .map(([pointer, , count]) => ({ pointer, reason: sentence('field.too_many_bytes', { count }) }))
  if (errors.length > 0) throw refuseFields(errors)
}

async function takeOver(
  { mongo: { db }, clock, resource }: TemplateResourceDeps,
  known: TemplateDoc,
  content: TemplateContent,
  { adopt, annotation }: Takeover,
): Promise<Omit<DeclaredTemplate, 'version'>> {
  refuseManaged(known, { resource })
  const wasReleased = known.released_by?.namespace === resource.namespace
  if (!known.managed_by && !adopt && !wasReleased)
    throw new ProblemError('conflict', sentence('detail.template_unmanaged', { name: known.name, annotation }))
  const isSame = isDeepStrictEqual(fromStored(known.draft), withoutUndefined(content))
  const isOurs = known.managed_by !== undefined && isDeepStrictEqual({ ...known.managed_by }, resource)
  if (isSame && isOurs) return { template: known, outcome: 'unchanged' }
  if (!isSame) await refuseContent(content)
  const draft = { draft: toStored(content), revision: known.revision + 1 }
  const change = { ...(isSame ? {} : draft), managed_by: resource, updated_at: clock.now() }
  const template = await updateTemplate(db, known, change, { remove: ['released_by'] })
  if (!template) throw new ProblemError('version_conflict') // changed in parallel: the next run reads it again
  return { template, outcome: 'updated' }
}

/** Content as {@link fromStored} returns it. */
function withoutUndefined({ subject, html, text, variables }: TemplateContent): TemplateContent {
  return { subject, ...(html !== undefined && { html }), ...(text !== undefined && { text }), variables }
}

/** Removes the templates of a resource with their versions, or leaves them to their account. */
export async function withdrawTemplates(deps: TemplateResourceDeps, how: 'Delete' | 'Retain'): Promise<void> {
  for (const template of await templatesOfResource(deps.mongo.db, deps.resource.uid))
    if (how === 'Delete') await removeTemplate(deps, template.user_id, template._id)
    else await release(deps, template)
}

/** The accounts in which the resource has templates. */
export async function templateAccounts({ mongo, resource }: TemplateResourceDeps): Promise<string[]> {
  return [...new Set((await templatesOfResource(mongo.db, resource.uid)).map(({ user_id }) => user_id))]
}

/** Leaves the templates of a resource to an account that it may not act for any more. */
export async function leaveTemplates(deps: TemplateResourceDeps, userId: string): Promise<void> {
  for (const template of await templatesOfResource(deps.mongo.db, deps.resource.uid))
    if (template.user_id === userId) await release(deps, template)
}

async function release({ mongo: { db }, clock, resource }: TemplateResourceDeps, template: TemplateDoc): Promise<void> {
  const change = { released_by: resource, updated_at: clock.now() }
  await updateTemplate(db, template, change, { remove: ['managed_by', 'k8s'] })
}
