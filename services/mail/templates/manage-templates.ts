/** Templates of an account: drafts are edited, publications are versions that never change. */
import type { Clock } from '../../platform/clock.ts'
import { isDuplicateKey, type Mongo, type Session } from '../../platform/database/mongo.ts'
import { newId } from '../../platform/ids.ts'
import { ProblemError } from '../../platform/problems.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import { type ActingResource, refuseManaged } from '../managed.ts'
import type { TemplateContent } from './rendering/render-template.ts'
import { TEMPLATE_LIMITS } from './rules/template-limits.ts'
import {
  countTemplates,
  deleteTemplate,
  findTemplate,
  findVersion,
  insertTemplate,
  insertVersion,
  type StoredContent,
  type TemplateDoc,
  type TemplateVersionDoc,
  updateTemplate,
} from './store/templates.ts'
import { fromStored, refuseContent, toStored } from './stored-content.ts'

/** Dependencies of the use cases. */
export interface TemplateDeps extends ActingResource {
  mongo: Mongo
  clock: Clock
}

/** Fields of a draft that a change replaces; null removes a part. */
export interface DraftChange {
  name?: string | undefined
  subject?: string | undefined
  html?: string | null | undefined
  text?: string | null | undefined
  variables?: TemplateContent['variables'] | undefined
}

/** Who publishes. */
export type Publisher = TemplateVersionDoc['published_by']

/** Stores a new template as a draft. Throws `validation_failed`, and `conflict` when the name is taken or there are too many. */
export async function createTemplate(
  { mongo: { db }, clock, resource }: TemplateDeps,
  userId: string,
  { name, ...content }: TemplateContent & { name: string },
): Promise<TemplateDoc> {
  await refuseContent(content)
  const { templates: count } = TEMPLATE_LIMITS
  if ((await countTemplates(db, userId)) >= count)
    throw new ProblemError('conflict', sentence('detail.templates_full', { count }))
  const now = clock.now()
  const template: TemplateDoc = {
    _id: newId('tpl', now.getTime()),
    user_id: userId,
    name,
    draft: toStored(content),
    revision: 1,
    ...(resource && { managed_by: resource }),
    created_at: now,
    updated_at: now,
  }
  if (!(await insertTemplate(db, template))) throw nameTaken(name)
  return template
}

/** A template by its id or name, or 404. */
export async function getTemplate(
  { mongo: { db } }: Pick<TemplateDeps, 'mongo'>,
  userId: string,
  reference: string,
  session?: Session,
): Promise<TemplateDoc> {
  const found = await findTemplate(db, userId, reference, session)
  if (!found) throw new ProblemError('not_found', sentence('detail.no_template'))
  return found
}

/**
 * Changes name or draft. `revision` is the one that the caller edited: `version_conflict` when there is a newer one. Throws
 * `validation_failed`, `conflict` when the name is taken, and `managed_by_resource`, as all changes do.
 */
export async function changeTemplate(
  deps: TemplateDeps,
  userId: string,
  reference: string,
  { name, ...change }: DraftChange,
  revision?: number,
): Promise<TemplateDoc> {
  const { db } = deps.mongo
  const before = await getTemplate(deps, userId, reference)
  refuseManaged(before, deps)
  if (revision !== undefined && revision !== before.revision) throw new ProblemError('version_conflict')
  const content = changed(fromStored(before.draft), change)
  await refuseContent(content)
  const fields = { draft: toStored(content), revision: before.revision + 1, updated_at: deps.clock.now() }
  try {
    const after = await updateTemplate(db, before, { ...fields, ...(name !== undefined && { name }) })
    if (!after) throw new ProblemError('version_conflict')
    return after
  } catch (error) {
    if (isDuplicateKey(error)) throw nameTaken(name ?? before.name)
    throw error
  }
}

function changed(before: TemplateContent, { subject, html, text, variables }: DraftChange): TemplateContent {
  return {
    subject: subject ?? before.subject,
    html: html === undefined ? before.html : (html ?? undefined),
    text: text === undefined ? before.text : (text ?? undefined),
    variables: variables ?? before.variables,
  }
}

/** Removes a template and its versions; messages that were sent with it stay as they are. Returns what was removed. */
export async function removeTemplate(deps: TemplateDeps, userId: string, reference: string): Promise<TemplateDoc> {
  return deps.mongo.transaction(async session => {
    const template = await getTemplate(deps, userId, reference, session)
    refuseManaged(template, deps)
    await deleteTemplate(deps.mongo.db, template._id, session)
    return template
  })
}

/** A template after a publication, with the version that is sent now. */
export interface Published {
  template: TemplateDoc
  version: number
}

/** Publishes the draft; again without a change nothing happens. `revision`: `version_conflict` when there is a newer one. */
export async function publishTemplate(
  deps: TemplateDeps,
  userId: string,
  reference: string,
  by: Publisher,
  revision?: number,
): Promise<Published> {
  return deps.mongo.transaction(async session => {
    const template = await getTemplate(deps, userId, reference, session)
    refuseManaged(template, deps)
    if (revision !== undefined && revision !== template.revision) throw new ProblemError('version_conflict')
    if (template.published && template.published_revision === template.revision)
      return { template, version: template.published.version }
    return publish(deps, template, { content: template.draft, by, publishedRevision: template.revision }, session)
  })
}

/** Publishes the content of an earlier version again, as a version of its own. The draft stays. Throws `not_found`. */
export async function rollbackTemplate(
  deps: TemplateDeps,
  userId: string,
  reference: string,
  version: number,
  by: Publisher,
): Promise<Published> {
  return deps.mongo.transaction(async session => {
    const template = await getTemplate(deps, userId, reference, session)
    refuseManaged(template, deps)
    if (template.published?.version === version) return { template, version }
    const earlier = await getVersion(deps, template, version)
    // No revision of the draft is published now: the next publication is a change.
    return publish(deps, template, { content: earlier.content, by, publishedRevision: 0, from: version }, session)
  })
}

async function publish(
  { mongo: { db }, clock }: TemplateDeps,
  template: TemplateDoc,
  given: { content: StoredContent; by: Publisher; publishedRevision: number; from?: number },
  session: Session,
): Promise<Published> {
  const version = (template.published?.version ?? 0) + 1
  const at = clock.now()
  const change = { published: { version, at }, published_revision: given.publishedRevision }
  const after = await updateTemplate(db, template, change, { session })
  if (!after) throw new ProblemError('version_conflict')
  const document: TemplateVersionDoc = {
    _id: `${template._id}.${version}`,
    template_id: template._id,
    user_id: template.user_id,
    version,
    content: given.content,
    published_at: at,
    published_by: given.by,
    ...(given.from !== undefined && { rolled_back_to: given.from }),
  }
  await insertVersion(db, document, version - TEMPLATE_LIMITS.versions, session)
  return { template: after, version }
}

/** A version of a template, or 404. */
export async function getVersion(
  { mongo: { db } }: Pick<TemplateDeps, 'mongo'>,
  { _id, name }: Pick<TemplateDoc, '_id' | 'name'>,
  version: number,
): Promise<TemplateVersionDoc> {
  const found = await findVersion(db, _id, version)
  if (!found) throw new ProblemError('not_found', sentence('detail.no_template_version', { name, version }))
  return found
}

function nameTaken(name: string): ProblemError {
  return new ProblemError('conflict', sentence('detail.template_name_taken', { name }))
}
