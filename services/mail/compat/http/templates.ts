/** `/templates`, by id or alias. */
import { newId } from '../../../platform/ids.ts'
import {
  createTemplateOperation,
  deleteTemplateOperation,
  getTemplateOperation,
  listTemplatesOperation,
  patchTemplateOperation,
  publishTemplateOperation,
} from '../../templates/http/templates-contract.ts'
import { toListedTemplate, toOwnTemplate, toShownTemplate } from '../rules/template.ts'
import { addForeignRoutes, type ForeignDeps, type ForeignRequest } from './foreign-routes.ts'
import { listPage, pageOf } from './pages.ts'

const answer = ({ id }: { id: string }) => ({ object: 'template', id })

/** Adds the addresses. */
export function addTemplateRoutes(deps: ForeignDeps): void {
  const params = (request: ForeignRequest) => ({ id: request.params.id })
  addForeignRoutes(deps, [
    {
      ...{ method: 'POST', path: '/templates', operation: createTemplateOperation, status: 201 },
      handle: async ({ body, own }) =>
        answer(await own(createTemplateOperation, { body: { subject: '', ...toOwnTemplate(body) } })),
    },
    {
      ...{ method: 'GET', path: '/templates', operation: listTemplatesOperation },
      handle: request =>
        listPage(request, async page =>
          pageOf(await request.own(listTemplatesOperation, { query: page }), toListedTemplate),
        ),
    },
    {
      ...{ method: 'GET', path: '/templates/:id', operation: getTemplateOperation },
      handle: async request => toShownTemplate(await request.own(getTemplateOperation, { params: params(request) })),
    },
    {
      ...{ method: 'PATCH', path: '/templates/:id', operation: patchTemplateOperation },
      handle: async request =>
        answer(
          await request.own(patchTemplateOperation, { params: params(request), body: toOwnTemplate(request.body) }),
        ),
    },
    {
      ...{ method: 'DELETE', path: '/templates/:id', operation: deleteTemplateOperation },
      async handle(request) {
        await request.own(deleteTemplateOperation, { params: params(request) })
        return { object: 'template', id: request.params.id, deleted: true }
      },
    },
    {
      ...{ method: 'POST', path: '/templates/:id/publish', operation: publishTemplateOperation },
      handle: async request => answer(await request.own(publishTemplateOperation, { params: params(request) })),
    },
    {
      ...{ method: 'POST', path: '/templates/:id/duplicate', operation: createTemplateOperation, status: 201 },
      handle: request => duplicate(request, params(request)),
    },
  ])
}

/** The draft under a name that no template has. */
async function duplicate({ own }: ForeignRequest, params: { id: string | undefined }): Promise<object> {
  const { name, subject, html, text, variables } = await own(getTemplateOperation, { params })
  const suffix = `-copy-${newId('t').slice(-8)}`
  const body = {
    ...{ name: `${name.slice(0, 64 - suffix.length)}${suffix}`, subject, variables },
    ...(html !== null && { html }),
    ...(text !== null && { text }),
  }
  return answer(await own(createTemplateOperation, { body }))
}
