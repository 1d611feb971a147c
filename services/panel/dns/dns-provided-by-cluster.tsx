/** For a domain of a MailDomain: says that the DNS account belongs to the cluster, whose users cannot see it. */
import { Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { Output } from '../api/client.ts'
import { useRead } from '../api/hooks.ts'

interface Props {
  domain: Pick<Output<'getDomainOperation'>, 'dns_account_id'>
}

export function DnsProvidedByCluster({ domain: { dns_account_id } }: Props) {
  const { t } = useTranslation()
  const accounts = useRead('listDnsAccountsOperation', {})
  const isHidden = dns_account_id !== null && accounts.data?.data.every(({ id }) => id !== dns_account_id)
  return isHidden ? <Text fz="sm">{t('dns.providedByCluster')}</Text> : null
}
