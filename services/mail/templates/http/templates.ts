/** Templates over HTTP. */

import type { z } from 'zod'
import { showManagedBy } from '../../../accounts/http/account-view.ts'
import { personOf } from '../../../accounts/http/audit-caller.ts'
import { toPage } from '../../../platform/cursor-pages.ts'
import { bind, type WebContext } from '../../../platform/http/web-app.ts'
import { newId } from '../../../platform/ids.ts'
import { orderedPage, toOrderedPage } from '../../../platform/ordered-pages.ts'
import { ProblemError } from '../../../platform/problems.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import type { Principal } from '../../http/shared/authorise.ts'
import type { MailHttpDeps, Router } from '../../http/shared/context.ts'
import { answerPage } from '../../log/http/emails.ts'
import {
  changeTemplate,
  createTemplate,
  getTemplate,
  getVersion,
  type Publisher,
  publishTemplate,
  removeTemplate,
  rollbackTemplate,
} from '../manage-templates.ts'
import { previewContent } from '../render-published.ts'
import type { RenderedTemplate } from '../rendering/render-template.ts'
import { readPreview, savePreview } from '../store/previews.ts'
import {
  listTemplates,
  listVersions,
  type TemplateDoc,
  type TemplateRow,
  type TemplateVersionDoc,
  type VersionRow,
} from '../store/templates.ts'
import { fromStored } from '../stored-content.ts'
import * as contract from './templates-contract.ts'

/** Puts the operations on templates on the router. */
export function mountTemplates(router: Router, deps: MailHttpDeps): void {
  const { authorise, clock, mongo } = deps
  const useCase = { mongo, clock }
  const audit = (caller: Principal, context: WebContext, verb: string, { _id, name }: TemplateDoc) =>
    deps.audit(caller, context, { action: `template.${verb}`, target: { type: 'template', id: _id, name } })
  const show = async (userId: string, rendered: RenderedTemplate, framed: boolean) => {
    if (!framed || rendered.html === undefined) return showPreview(rendered, null)
    const key = newId('prv', clock.now().getTime())
    await savePreview(mongo.db, userId, key, rendered.html, clock.now())
    return showPreview(rendered, `/api/v1/template-previews/${key}`)
  }

  bind(router, authorise, contract.createTemplateOperation, async ({ body }, caller, context) => {
    const created = await createTemplate(useCase, caller.account.id, body)
    await audit(caller, context, 'created', created)
    context.set('Location', `/api/v1/templates/${created._id}`)
    return showTemplate(created)
  })

  bind(router, authorise, contract.listTemplatesOperation, async ({ query }, { account }) => {
    const rows = await listTemplates(mongo.db, account.id, orderedPage(contract.TEMPLATE_ORDERS, query))
    return toOrderedPage(contract.TEMPLATE_ORDERS, query, rows, showSummary)
  })

  bind(router, authorise, contract.getTemplateOperation, async ({ params }, { account }) =>
    showTemplate(await getTemplate(useCase, account.id, params.id)),
  )

  bind(router, authorise, contract.patchTemplateOperation, async ({ params, body }, caller, context) => {
    const { revision, ...change } = body
    const changed = await changeTemplate(useCase, caller.account.id, params.id, change, revision)
    await audit(caller, context, 'changed', changed)
    return showTemplate(changed)
  })

  bind(router, authorise, contract.deleteTemplateOperation, async ({ params }, caller, context) => {
    await audit(caller, context, 'deleted', await removeTemplate(useCase, caller.account.id, params.id))
  })

  bind(router, authorise, contract.publishTemplateOperation, async ({ params, body }, caller, context) => {
    const by = publisherOf(caller)
    const { template } = await publishTemplate(useCase, caller.account.id, params.id, by, body.revision)
    await audit(caller, context, 'published', template)
    return showTemplate(template)
  })

  bind(router, authorise, contract.rollbackTemplateOperation, async ({ params, body }, caller, context) => {
    const by = publisherOf(caller)
    const { template } = await rollbackTemplate(useCase, caller.account.id, params.id, body.version, by)
    await audit(caller, context, 'rolled_back', template)
    return showTemplate(template)
  })

  bind(router, authorise, contract.listTemplateVersionsOperation, async ({ params, query }, { account }) => {
    const { _id } = await getTemplate(useCase, account.id, params.id)
    return toPage(await listVersions(mongo.db, _id, query), query.limit, showVersionSummary)
  })

  bind(router, authorise, contract.getTemplateVersionOperation, async ({ params }, { account }) => {
    const template = await getTemplate(useCase, account.id, params.id)
    return showVersion(await getVersion(useCase, template, params.version))
  })

  bind(router, authorise, contract.previewTemplateOperation, async ({ params, body }, { account }) => {
    const template = await getTemplate(useCase, account.id, params.id)
    const content =
      body.version === undefined ? template.draft : (await getVersion(useCase, template, body.version)).content
    return show(account.id, await previewContent(fromStored(content), body.values), body.framed)
  })

  bind(router, authorise, contract.previewContentOperation, async ({ body }, { account }) => {
    const { values, framed, ...content } = body
    return show(account.id, await previewContent(content, values), framed)
  })

  bind(router, authorise, contract.previewFrameOperation, async ({ params }, { account }, context) => {
    const html = await readPreview(mongo.db, account.id, params.id)
    if (html === undefined) throw new ProblemError('not_found', sentence('detail.no_preview'))
    answerPage(context, html)
  })
}

function publisherOf(caller: Principal): Publisher {
  const { token } = caller
  return { name: personOf(caller).username, ...(token && { token_id: token.id }) }
}

function showSummary(row: TemplateRow) {
  return {
    object: 'template' as const,
    id: row._id,
    name: row.name,
    subject: row.draft.subject,
    revision: row.revision,
    version: row.published?.version ?? null,
    published_at: row.published?.at.toISOString() ?? null,
    has_changes: row.published_revision !== row.revision,
    managed_by: showManagedBy(row.managed_by),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

function showTemplate(doc: TemplateDoc): z.input<typeof contract.template> {
  return { ...showSummary(doc), ...showParts(doc.draft) }
}

function showVersionSummary(row: VersionRow) {
  return {
    object: 'template_version' as const,
    template_id: row.template_id,
    version: row.version,
    subject: row.content.subject,
    published_at: row.published_at.toISOString(),
    published_by: row.published_by.name,
    rolled_back_to: row.rolled_back_to ?? null,
  }
}

function showVersion(doc: TemplateVersionDoc): z.input<typeof contract.templateVersion> {
  return { ...showVersionSummary(doc), ...showParts(doc.content) }
}

function showParts(stored: TemplateDoc['draft']) {
  const { html = null, text = null, variables } = fromStored(stored)
  return { html, text, variables: [...variables] }
}

function showPreview({ subject, html, text, textIsDerived }: RenderedTemplate, frame: string | null) {
  return {
    object: 'template_preview' as const,
    subject,
    html: html ?? null,
    text,
    text_is_derived: textIsDerived,
    frame,
  }
}
