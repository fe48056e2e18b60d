// The filters of the list of announcements: every one that the API has, each in the address.
import { Group, Switch, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { announcementStatuses, listRegionsRoute } from '@pharos/contract/byoip'
import { listAsnsRoute } from '@pharos/contract/inventory'
import { useEffect, useState } from 'react'
import { useAnswer } from '../api/queries.ts'
import { OneOf, SeveralOf, YesOrNo } from '../ui/filter-fields.tsx'
import { announcementStatusWord } from '../ui/status.tsx'
import type { ListSearch } from '../ui/use-list-search.ts'
import { networkOf } from './prefix-text.ts'

type FiltersProps = Pick<ListSearch, 'filters' | 'setFilters'>

const listOf = (value: unknown): string[] => (value === undefined ? [] : [value].flat().map(String))

export function Filters({ filters, setFilters }: FiltersProps) {
  const regions = useAnswer(listRegionsRoute, { query: { limit: 1000 } })
  return (
    <Group gap="xs" align="flex-start">
      <PrefixSearch filters={filters} setFilters={setFilters} />
      <SeveralOf
        label="Status"
        none="Any status"
        width={130}
        options={announcementStatuses.map((status) => ({
          value: status,
          label: announcementStatusWord(status),
        }))}
        value={filters['status']}
        onChange={(status) => setFilters({ status })}
      />
      <SeveralOf
        label="Region"
        none="Any region"
        width={120}
        options={regions.data?.results.map(({ slug, name }) => ({ value: slug, label: name })) ?? []}
        value={filters['region']}
        onChange={(region) => setFilters({ region })}
      />
      <Origins filters={filters} setFilters={setFilters} />
      <YesOrNo
        label="Switched"
        none="On, off"
        width={100}
        yes="On"
        no="Off"
        value={filters['enabled']}
        onChange={(enabled) => setFilters({ enabled })}
      />
      <OneOf
        label="Address family"
        none="v4 and v6"
        width={100}
        options={[
          { value: '4', label: 'IPv4' },
          { value: '6', label: 'IPv6' },
        ]}
        value={filters['family']}
        onChange={(family) => setFilters({ family })}
      />
      <Switch
        size="xs"
        mt={6}
        label="Deleted"
        checked={filters['deleted'] === true}
        onChange={(event) => setFilters({ deleted: event.currentTarget.checked || undefined })}
      />
    </Group>
  )
}

const networksIn = (text: string): (string | undefined)[] =>
  text
    .split(/[\s,]+/)
    .filter((word) => word !== '')
    .map(networkOf)

/** Asked for once it is an address or a prefix: what is half typed is no question yet. */
function PrefixSearch({ filters, setFilters }: FiltersProps) {
  const asked = listOf(filters['cidr']).join(' ')
  const [text, setText] = useState(asked)
  const [isWrong, setIsWrong] = useState(false)
  const settle = useDebouncedCallback((typed: string) => {
    const networks = networksIn(typed)
    const isComplete = networks.every((network) => network !== undefined)
    setIsWrong(!isComplete)
    if (isComplete) setFilters({ cidr: networks })
  }, 300)
  // The address may be changed elsewhere: by the way back, or where all filters are taken away.
  useEffect(() => setText((now) => (networksIn(now).join(' ') === asked ? now : asked)), [asked])
  return (
    <TextInput
      data-search
      size="xs"
      w={160}
      aria-label="Prefix or address"
      placeholder="Prefix or address"
      value={text}
      error={isWrong && 'an address or a prefix, such as 203.0.113.0/24'}
      onChange={(event) => {
        setText(event.currentTarget.value)
        settle(event.currentTarget.value)
      }}
    />
  )
}

/** The team's ASNs, and those of the address that are none of them any more. */
function Origins({ filters, setFilters }: FiltersProps) {
  const asns = useAnswer(listAsnsRoute, { query: { limit: 1000 } })
  const chosen = listOf(filters['origin_asn'])
  const known = asns.data?.results.map(({ asn }) => String(asn)) ?? []
  return (
    <SeveralOf
      label="Origin"
      none="Any origin"
      width={120}
      options={[...new Set([...known, ...chosen])].map((asn) => ({ value: asn, label: `AS${asn}` }))}
      value={chosen}
      onChange={(origins) => setFilters({ origin_asn: origins })}
    />
  )
}
