/** DNS settings of a domain: DMARC policy and reports, additional SPF senders, DKIM key rotation. */
import { NumberInput, Select, SimpleGrid, Switch, Textarea } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { Output } from '../api/client.ts'
import { useWrite } from '../api/hooks.ts'
import { notifySuccess } from '../ui/feedback/notifications.ts'
import { SubmitForm } from '../ui/forms/form.tsx'
import { splitList } from '../ui/forms/split-text.ts'
import { useFields } from '../ui/forms/use-fields.ts'
import { Card } from '../ui/layout/page.tsx'

type Domain = Output<'getDomainOperation'>

const POLICIES = ['none', 'quarantine', 'reject'] as const
const RETURN_PATHS = ['own', 'shared', 'off'] as const
const RETURN_PATH_RECORDS = ['cname', 'mx'] as const

/** The form is reset when the stored settings change elsewhere. */
export function DnsSettings({ domain }: { domain: Domain }) {
  const { t } = useTranslation()
  return (
    <Card title={t('dns.settings')}>
      <SettingsForm key={JSON.stringify(domain.dns)} domain={domain} />
    </Card>
  )
}

function SettingsForm({ domain }: { domain: Domain }) {
  const { t } = useTranslation()
  const save = useWrite('patchDomainOperation', ['getDomainOperation'])
  const { dmarc, spf, address, dkim_rotation_days, return_path, return_path_records } = domain.dns
  const start = {
    policy: dmarc.policy,
    rua: dmarc.rua.join('\n'),
    spf: spf.join('\n'),
    address,
    dkim_rotation_days,
    return_path,
    return_path_records,
  }
  const fields = useFields(start, save.error)
  // An installation without BOUNCE_DOMAIN has no return paths.
  const hasReturnPath = return_path !== 'own' || domain.records.some(({ purpose }) => purpose.startsWith('return_path'))
  const submit = () => {
    const { policy, rua, spf: senders, ...others } = fields.values
    const dns = { ...others, dmarc: { policy, rua: splitList(rua) }, spf: splitList(senders) }
    save.mutate(
      { params: { id: domain.id }, body: { dns } },
      { onSuccess: () => notifySuccess(t('dns.settingsSaved')) },
    )
  }
  return (
    <SubmitForm needs="admin" state={save} fields={fields} submit={submit} action={t('ui.save')}>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg">
        <Select
          label={t('dns.policy')}
          description={t(`dns.policyHint.${fields.values.policy}`)}
          data={POLICIES.map(value => ({ value, label: t(`dns.policies.${value}`) }))}
          allowDeselect={false}
          {...fields.value('policy')}
          onChange={value => fields.change({ policy: POLICIES.find(known => known === value) ?? 'none' })}
        />
        <Textarea
          label={t('dns.rua')}
          description={t('dns.ruaHint')}
          placeholder="dmarc@example.com"
          autosize
          minRows={1}
          {...fields.text('rua')}
        />
        <Textarea
          label={t('dns.spf')}
          description={t('dns.spfHint')}
          placeholder="include:_spf.example.net"
          autosize
          minRows={1}
          spellCheck={false}
          {...fields.text('spf')}
        />
        <NumberInput
          label={t('dns.rotation')}
          description={t('dns.rotationHint')}
          min={0}
          max={3650}
          allowDecimal={false}
          {...fields.count('dkim_rotation_days')}
        />
        {hasReturnPath ? (
          <Select
            label={t('dns.returnPath')}
            description={t(`dns.returnPathHint.${fields.values.return_path}`)}
            data={RETURN_PATHS.map(value => ({ value, label: t(`dns.returnPaths.${value}`) }))}
            allowDeselect={false}
            {...fields.value('return_path')}
            onChange={value => fields.change({ return_path: RETURN_PATHS.find(known => known === value) ?? 'own' })}
          />
        ) : null}
        {hasReturnPath && fields.values.return_path === 'own' ? (
          <Select
            label={t('dns.returnPathRecords')}
            description={t(`dns.returnPathRecordsHint.${fields.values.return_path_records}`)}
            data={RETURN_PATH_RECORDS.map(value => ({ value, label: t(`dns.returnPathForms.${value}`) }))}
            allowDeselect={false}
            {...fields.value('return_path_records')}
            onChange={value =>
              fields.change({ return_path_records: RETURN_PATH_RECORDS.find(known => known === value) ?? 'cname' })
            }
          />
        ) : null}
      </SimpleGrid>
      <Switch label={t('dns.address')} description={t('dns.addressHint')} {...fields.flag('address')} />
    </SubmitForm>
  )
}
