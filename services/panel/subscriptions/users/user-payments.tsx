/** Payments, refunds and granted periods of a user. */
import { IconCreditCard } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Empty, Loaded } from '../../ui/feedback/content-states.tsx'
import { StatusBadge } from '../../ui/feedback/status-badge.tsx'
import { NumberedPages } from '../../ui/layout/numbered-pages.tsx'
import { Card } from '../../ui/layout/page.tsx'
import { type Column, DataTable } from '../../ui/layout/table.tsx'
import { BusinessTime } from '../shared/business-time.tsx'
import { isUnpaid } from '../shared/payment-id.ts'
import { type SubOutput, useSubRead } from '../shared/subscriptions-api.ts'
import { PaymentMethod } from '../subscribers/subscription-table.tsx'

type Payment = SubOutput<'listUserPayments'>['payments'][number]

export function UserPayments({ appKey, id }: { appKey: string; id: string }) {
  const { t } = useTranslation()
  const [page, setPage] = useState(1)
  const query = useSubRead('listUserPayments', { params: { id }, query: { app_key: appKey, page } })
  const columns: Column<Payment>[] = [
    { label: t('subs.date'), cell: one => <BusinessTime short at={one.paid_at} /> },
    { label: t('subs.type'), cell: one => <PaymentKind payment={one} /> },
    { label: t('subs.plan'), text: true, cell: one => one.plan_name },
    { label: t('subs.amount'), end: true, cell: one => `${one.kind === 'refund' ? '−' : ''}¥${one.amount}` },
    { label: t('subs.method'), under: t('subs.plan'), cell: one => <PaymentMethod method={one.payment_method} /> },
    {
      label: t('subs.paymentId'),
      under: t('subs.plan'),
      cell: one => (isUnpaid(one.payment_id) ? '–' : <span className="pw-mono">{one.payment_id}</span>),
    },
  ]
  return (
    <Card title={t('subs.payments')} flush>
      <Loaded query={query}>
        {({ payments, pagination }) =>
          payments.length === 0 ? (
            <Empty icon={<IconCreditCard size={26} />} title={t('subs.noPayments')} />
          ) : (
            <>
              <DataTable name={t('subs.payments')} columns={columns} rows={payments} rowKey={one => one.id} />
              <NumberedPages page={page} total={pagination.total_pages} go={setPage} />
            </>
          )
        }
      </Loaded>
    </Card>
  )
}

function PaymentKind({ payment }: { payment: Payment }) {
  const { t } = useTranslation()
  if (payment.kind === 'refund') return <StatusBadge tone="bad">{t('subs.paymentKinds.refund')}</StatusBadge>
  const given = payment.payment_method === 'manual'
  return (
    <>
      <StatusBadge tone={given ? 'quiet' : 'ok'}>
        {t(given ? 'subs.paymentKinds.grant' : 'subs.paymentKinds.payment')}
      </StatusBadge>
      {payment.refunded_amount === '0.00' ? null : (
        <span className="pw-sub">{t('subs.refundedAmount', { amount: `¥${payment.refunded_amount}` })}</span>
      )}
    </>
  )
}
