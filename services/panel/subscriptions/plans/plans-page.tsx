import { Button, Menu } from '@mantine/core'
import { IconPlus, IconReceipt2 } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Loaded } from '../../ui/feedback/content-states.tsx'
import { StatusBadge } from '../../ui/feedback/status-badge.tsx'
import { Dialog } from '../../ui/forms/dialog.tsx'
import { RowMenu } from '../../ui/layout/row-menu.tsx'
import { type Column, DataTable } from '../../ui/layout/table.tsx'
import { Revisions } from '../history/revisions.tsx'
import { AppList, OneOfList } from '../shared/app-list.tsx'
import { type AppScope, AppScopedPage } from '../shared/app-scope.tsx'
import { SelectFilter } from '../shared/list-filters.tsx'
import { ManagedBadge } from '../shared/managed-badge.tsx'
import { useSubRead, useSubWrite } from '../shared/subscriptions-api.ts'
import { plansSearch } from '../shared/subscriptions-search.ts'
import type { Plan } from './plan-fields.ts'
import { PlanForm } from './plan-form.tsx'
import { currentPlanState } from './plan-revision.ts'

const route = getRouteApi('/shell/apps/$key/plans')

export function PlansPage() {
  const { t } = useTranslation()
  return (
    <AppScopedPage title={t('subs.plansTitle')} lead={t('subs.plansLead')}>
      {scope => <Plans scope={scope} />}
    </AppScopedPage>
  )
}

function Plans({ scope }: { scope: AppScope }) {
  const { t } = useTranslation()
  const { plan: chosen, ...search } = plansSearch({ ...route.useSearch() })
  const navigate = route.useNavigate()
  const [editing, edit] = useState<Plan | 'new'>()
  const app_key = scope.app.app_key
  const query = useSubRead('listPlansOperation', { query: { app_key, ...search } }, { enabled: !chosen })
  const add = scope.edit ? (
    <Button leftSection={<IconPlus size={16} />} onClick={() => edit('new')}>
      {t('subs.newPlan')}
    </Button>
  ) : null
  const table = (plans: readonly Plan[]) => <PlanTable plans={plans} edit={scope.edit ? edit : undefined} />
  const list = chosen ? (
    <OnePlan id={chosen} appKey={app_key} showAll={() => void navigate({ search: {} })}>
      {table}
    </OnePlan>
  ) : (
    <AppList
      search={search}
      navigate={next => void navigate({ search: next })}
      query={query}
      hint={t('subs.planSearch')}
      filters={go => (
        <SelectFilter
          label={t('messages.state')}
          data={[
            { value: '1', label: t('subs.forSale') },
            { value: '0', label: t('subs.notForSale') },
          ]}
          value={search.status}
          set={status => go({ status })}
        />
      )}
      empty={{
        icon: <IconReceipt2 size={26} />,
        title: t('subs.noPlans'),
        hint: t('subs.noPlansHint'),
        action: add,
      }}
      actions={add}
      pages={answer => answer.pagination.total_pages}
      rows={answer => answer.plans}
    >
      {table}
    </AppList>
  )
  return (
    <>
      {list}
      <Dialog
        opened={editing !== undefined}
        close={() => edit(undefined)}
        title={editing === 'new' ? t('subs.newPlan') : t('subs.editPlan')}
      >
        {() => (
          <PlanForm
            appKey={app_key}
            close={() => edit(undefined)}
            {...(typeof editing === 'object' ? { plan: editing } : {})}
          />
        )}
      </Dialog>
    </>
  )
}

function OnePlan(props: {
  id: string
  appKey: string
  showAll: () => void
  children: (plans: readonly Plan[]) => ReactNode
}) {
  const { id, appKey, ...rest } = props
  const query = useSubRead('getPlan', { params: { id }, query: { app_key: appKey } })
  return <OneOfList query={query} {...rest} />
}

function PlanTable({ plans, edit }: { plans: readonly Plan[]; edit: ((plan: Plan) => void) | undefined }) {
  const { t } = useTranslation()
  const columns: Column<Plan>[] = [
    {
      label: t('subs.name'),
      text: true,
      cell: plan => (
        <>
          {plan.name} <ManagedBadge resource={plan.managed_by} />
        </>
      ),
    },
    { label: t('subs.price'), end: true, cell: plan => <Price plan={plan} /> },
    {
      label: t('subs.duration'),
      cell: plan => (plan.is_permanent ? t('subs.permanent') : t('subs.days', { count: Number(plan.duration) })),
    },
    { label: t('subs.holders'), end: true, cell: plan => plan.active_subscriptions },
    {
      label: t('messages.state'),
      cell: plan => (
        <StatusBadge tone={plan.status === '1' ? 'ok' : 'quiet'}>
          {t(plan.status === '1' ? 'subs.forSale' : 'subs.notForSale')}
        </StatusBadge>
      ),
    },
    {
      label: t('ui.actions'),
      hidden: true,
      end: true,
      cell: plan => <PlanMenu plan={plan} edit={edit} />,
    },
  ]
  return <DataTable name={t('subs.plansTitle')} columns={columns} rows={plans} rowKey={plan => plan.id} />
}

function PlanMenu({ plan, edit }: { plan: Plan; edit: ((plan: Plan) => void) | undefined }) {
  const { t } = useTranslation()
  const [history, showHistory] = useState(false)
  const may = edit !== undefined && !plan.managed_by
  return (
    <>
      <RowMenu name={plan.name}>
        {may ? <Menu.Item onClick={() => edit(plan)}>{t('ui.edit')}</Menu.Item> : null}
        <Menu.Item onClick={() => showHistory(true)}>{t('subs.history')}</Menu.Item>
      </RowMenu>
      <Dialog
        opened={history}
        close={() => showHistory(false)}
        title={t('subs.historyOf', { name: plan.name })}
        size="lg"
      >
        {() => <PlanHistory plan={plan} edit={may} done={() => showHistory(false)} />}
      </Dialog>
    </>
  )
}

function PlanHistory({ plan, edit, done }: { plan: Plan; edit: boolean; done: () => void }) {
  const where = { params: { id: plan.id }, query: { app_key: plan.app_key } }
  const query = useSubRead('planHistory', where, { noCache: true })
  const restore = useSubWrite('restorePlanOperation')
  const put = async (revision: number) => {
    await restore.mutateAsync({ ...where, body: { revision } })
    done()
  }
  return (
    <Loaded query={query}>
      {({ revisions }) => (
        <Revisions revisions={revisions} present={currentPlanState(plan)} restore={edit ? put : undefined} />
      )}
    </Loaded>
  )
}

function Price({ plan }: { plan: Plan }) {
  if (plan.price === plan.original_price) return <>¥{plan.price}</>
  return (
    <>
      ¥{plan.price} <s className="pw-was">¥{plan.original_price}</s>
    </>
  )
}
