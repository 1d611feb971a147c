/** What the records of a domain should say: DMARC policy and reports, further SPF senders, rotation of the key. */
import { NumberInput, Select, SimpleGrid, Switch, Textarea } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Output } from '../api/client.ts'
import { useWrite } from '../api/hooks.ts'
import { linesOf, SubmitForm } from '../ui/form.tsx'
import { tellDone } from '../ui/notify.ts'
import { Card } from '../ui/page.tsx'

type Domain = Output<'getDomainOperation'>

const POLICIES = ['none', 'quarantine', 'reject'] as const

/** The card. It starts again from what was saved when that changes elsewhere. */
export function DomainSettings({ domain }: { domain: Domain }) {
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
  const [policy, setPolicy] = useState(domain.dns.dmarc.policy)
  const [rua, setRua] = useState(domain.dns.dmarc.rua.join('\n'))
  const [spf, setSpf] = useState(domain.dns.spf.join('\n'))
  const [address, setAddress] = useState(domain.dns.address)
  const [days, setDays] = useState(domain.dns.dkim_rotation_days)
  const submit = () =>
    save.mutate(
      {
        params: { id: domain.id },
        body: { dns: { address, dmarc: { policy, rua: linesOf(rua) }, spf: linesOf(spf), dkim_rotation_days: days } },
      },
      { onSuccess: () => tellDone(t('dns.settingsSaved')) },
    )
  return (
    <SubmitForm state={save} submit={submit} action={t('ui.save')}>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg">
        <Select
          label={t('dns.policy')}
          description={t(`dns.policyHint.${policy}`)}
          data={POLICIES.map(value => ({ value, label: t(`dns.policies.${value}`) }))}
          value={policy}
          allowDeselect={false}
          onChange={value => setPolicy(POLICIES.find(known => known === value) ?? 'none')}
        />
        <Textarea
          label={t('dns.rua')}
          description={t('dns.ruaHint')}
          placeholder="dmarc@example.com"
          autosize
          minRows={1}
          value={rua}
          onChange={event => setRua(event.currentTarget.value)}
        />
        <Textarea
          label={t('dns.spf')}
          description={t('dns.spfHint')}
          placeholder="include:_spf.example.net"
          autosize
          minRows={1}
          spellCheck={false}
          value={spf}
          onChange={event => setSpf(event.currentTarget.value)}
        />
        <NumberInput
          label={t('dns.rotation')}
          description={t('dns.rotationHint')}
          min={0}
          max={3650}
          allowDecimal={false}
          value={days}
          onChange={value => setDays(Number(value) || 0)}
        />
      </SimpleGrid>
      <Switch
        label={t('dns.address')}
        description={t('dns.addressHint')}
        checked={address}
        onChange={event => setAddress(event.currentTarget.checked)}
      />
    </SubmitForm>
  )
}
