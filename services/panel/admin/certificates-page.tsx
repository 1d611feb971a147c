/** TLS certificates of the SMTP ports. */
import { Stack } from '@mantine/core'
import { IconCertificate } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { Output } from '../api/client.ts'
import { useRead } from '../api/hooks.ts'
import { Empty, Loaded } from '../ui/feedback/content-states.tsx'
import { Note, StatusBadge, type Tone } from '../ui/feedback/status-badge.tsx'
import { Card, Page } from '../ui/layout/page.tsx'
import { Copyable } from '../ui/values/copy-button.tsx'
import { DescriptionList } from '../ui/values/description-list.tsx'
import { Time } from '../ui/values/time.tsx'

type Certificate = Output<'listCertificates'>['data'][number]

const TONES: Record<Certificate['status'], Tone> = { ok: 'ok', warning: 'warn', failing: 'bad' }

/** Polls every minute. */
export function CertificatesPage() {
  const { t } = useTranslation()
  const query = useRead('listCertificates', {}, { poll: 60_000 })
  return (
    <Page title={t('operator.certificatesTitle')} lead={t('operator.certificatesLead')}>
      <Loaded query={query}>
        {({ host, data }) =>
          data.length === 0 ? (
            <Card flush>
              <Empty icon={<IconCertificate size={26} />} title={t('operator.noCertificates')}>
                {t('operator.noCertificatesHint')}
              </Empty>
            </Card>
          ) : (
            <Stack gap="md">
              {data.map(certificate => (
                <CertificateCard key={certificate.fingerprint} certificate={certificate} host={host} />
              ))}
            </Stack>
          )
        }
      </Loaded>
    </Page>
  )
}

function CertificateCard({ certificate, host }: { certificate: Certificate; host: string }) {
  const { t } = useTranslation()
  const {
    names,
    issuer,
    key,
    not_before,
    not_after,
    file,
    fingerprint,
    seen_at,
    faults: warnings,
    status,
  } = certificate
  return (
    <Card
      title={names[0] ?? fingerprint}
      aside={<StatusBadge tone={TONES[status]}>{t(`operator.checkStatus.${status}`)}</StatusBadge>}
    >
      <Stack gap="md">
        {warnings.map(warning => (
          <Note key={warning} tone={status === 'failing' && warning !== 'self_signed' ? 'bad' : 'warn'}>
            {t(`operator.certificateError.${warning}`, { host })}
          </Note>
        ))}
        <DescriptionList
          entries={[
            [t('operator.names'), names.join(', ')],
            [
              t('operator.validUntil'),
              <span key="until">
                <Time at={not_after} short /> (<Time at={not_after} />)
              </span>,
            ],
            [t('operator.validFrom'), <Time key="from" at={not_before} />],
            [t('operator.issuer'), issuer],
            [t('operator.key'), key],
            [t('operator.file'), <Copyable key="file" value={file} what={t('operator.file')} />],
            [t('operator.fingerprint'), <Copyable key="print" value={fingerprint} what={t('operator.fingerprint')} />],
            [t('operator.lastReported'), <Time key="seen" at={seen_at} />],
          ]}
        />
      </Stack>
    </Card>
  )
}
