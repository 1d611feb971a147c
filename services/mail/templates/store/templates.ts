/** Templates and their published versions. */

import * as field from '../../../platform/database/fields.ts'
import {
  type Db,
  type DocumentOf,
  defineModel,
  insertUnique,
  modelOf,
  type Session,
} from '../../../platform/database/models.ts'
import { orderedQuery } from '../../../platform/database/read-page.ts'
import { managed, releasedBy } from '../../../platform/managed/managed-fields.ts'
import { listManagedBy } from '../../../platform/managed/managed-records.ts'
import type { OrderedPage } from '../../../platform/ordered-pages.ts'

/** Parts and variables, of a draft or a version. */
const content = {
  subject: field.text,
  html: field.optional(String),
  text: field.optional(String),
  /** JSON of `TemplateVariable[]`: keys of its default values may be what field names may not, as `$a`. */
  variables: field.text,
}

/** A template with its draft. `name` is unique in its account. */
export const templates = defineModel('templates', {
  _id: field.text,
  user_id: field.text,
  name: field.text,
  draft: field.required(field.part(content)),
  /** Number of the changes so far, from 1: a change names the one that it was made from. */
  revision: field.number,
  /** The revision that was published last, so that unpublished changes show. */
  published_revision: field.optional(Number),
  /** The version that is sent; absent until the first publication. */
  published: field.optional(field.part({ version: field.number, at: field.date })),
  ...managed,
  released_by: releasedBy,
  ...field.times,
})
templates.schema.index({ user_id: 1, name: 1 }, { unique: true })
templates.schema.index({ user_id: 1, _id: 1 })
templates.schema.index({ 'managed_by.uid': 1 }, { sparse: true })

/** A published version; never changed. `_id` is `<template>.<version>`. */
export const templateVersions = defineModel('template_versions', {
  _id: field.text,
  template_id: field.text,
  user_id: field.text,
  version: field.number,
  content: field.required(field.part(content)),
  published_at: field.date,
  published_by: field.required(field.part({ name: field.text, token_id: field.optional(String) })),
  /** The version whose content a rollback published again. */
  rolled_back_to: field.optional(Number),
})
templateVersions.schema.index({ template_id: 1, version: -1 }, { unique: true })

export type TemplateDoc = DocumentOf<typeof templates>
export type TemplateVersionDoc = DocumentOf<typeof templateVersions>
/** Parts and variables as they are stored. */
export type StoredContent = TemplateDoc['draft']
/** A template as lists show it. */
export type TemplateRow = Omit<TemplateDoc, 'draft'> & { draft: Pick<StoredContent, 'subject'> }
/** A version as lists show it. */
export type VersionRow = Omit<TemplateVersionDoc, 'content'> & { content: Pick<StoredContent, 'subject'> }

/** Stores a new template; false when the account has one of this name. */
export function insertTemplate(db: Db, template: TemplateDoc): Promise<boolean> {
  return insertUnique(modelOf(db, templates), template)
}

/** How many templates an account has. */
export function countTemplates(db: Db, userId: string): Promise<number> {
  return modelOf(db, templates).countDocuments({ user_id: userId })
}

/** A template of the account by id or name; no name looks like an id. */
export async function findTemplate(
  db: Db,
  userId: string,
  reference: string,
  session?: Session,
): Promise<TemplateDoc | undefined> {
  const filter = reference.startsWith('tpl_') ? { _id: reference } : { name: reference }
  const query = modelOf(db, templates).findOne({ ...filter, user_id: userId })
  return (await query.session(session ?? null).lean()) ?? undefined
}

/** A page of an account's templates, oldest first, without html and text; one more than `limit`. */
export async function listTemplates(db: Db, userId: string, page: OrderedPage): Promise<TemplateRow[]> {
  const { after, sort } = orderedQuery(page)
  return modelOf(db, templates)
    .find({ $and: [{ user_id: userId }, after] })
    .sort(sort)
    .limit(page.limit + 1)
    .select({ 'draft.html': 0, 'draft.text': 0, 'draft.variables': 0 })
    .lean<TemplateRow[]>()
}

/** The templates that the resource with this uid manages, in all accounts. */
export function templatesOfResource(db: Db, uid: string): Promise<TemplateDoc[]> {
  return listManagedBy(modelOf(db, templates), uid)
}

/** What a write may replace. */
export type TemplateChange = Partial<Omit<TemplateDoc, '_id' | 'user_id' | 'created_at'>>

/** Changes a template that still has this revision; undefined when it was changed or removed. May throw on a name that is taken. */
export async function updateTemplate(
  db: Db,
  { _id, revision }: Pick<TemplateDoc, '_id' | 'revision'>,
  change: TemplateChange,
  { session, remove = [] }: { session?: Session; remove?: readonly ('managed_by' | 'k8s' | 'released_by')[] } = {},
): Promise<TemplateDoc | undefined> {
  const $unset = Object.fromEntries(remove.map(field => [field, '' as const]))
  const written = { $set: change, ...(remove.length > 0 && { $unset }) }
  const update = modelOf(db, templates).findOneAndUpdate({ _id, revision }, written)
  return (await update.session(session ?? null).lean()) ?? undefined
}

/** Removes a template with its versions. */
export async function deleteTemplate(db: Db, id: string, session: Session): Promise<void> {
  await modelOf(db, templates).deleteOne({ _id: id }, { session })
  await modelOf(db, templateVersions).deleteMany({ template_id: id }, { session })
}

/** Stores a version, and removes those up to `keepAfter`. */
export async function insertVersion(
  db: Db,
  version: TemplateVersionDoc,
  keepAfter: number,
  session: Session,
): Promise<void> {
  await modelOf(db, templateVersions).insertOne(version, { session })
  await modelOf(db, templateVersions).deleteMany(
    { template_id: version.template_id, version: { $lte: keepAfter } },
    { session },
  )
}

/** A version of a template. */
export async function findVersion(
  db: Db,
  templateId: string,
  version: number,
): Promise<TemplateVersionDoc | undefined> {
  return (await modelOf(db, templateVersions).findOne({ template_id: templateId, version }).lean()) ?? undefined
}

/** A page of versions, newest first, without html and text; `after` is a version. One more than `limit`. */
export async function listVersions(
  db: Db,
  templateId: string,
  { limit, after }: { limit: number; after?: number | undefined },
): Promise<VersionRow[]> {
  return modelOf(db, templateVersions)
    .find({ template_id: templateId, ...(after !== undefined && { version: { $lt: after } }) })
    .sort({ version: -1 })
    .limit(limit + 1)
    .select({ 'content.html': 0, 'content.text': 0, 'content.variables': 0 })
    .lean<VersionRow[]>()
}
