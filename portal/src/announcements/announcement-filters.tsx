// The filters of the list of announcements: every one of the API.
import { Switch } from '@mantine/core'
import { announcementStatuses, listRegionsRoute } from '@pharos/contract/byoip'
import { listAsnsRoute } from '@pharos/contract/inventory'
import { useAnswer } from '../api/queries.ts'
import { MultiSelectFilter, SelectFilter, YesNoFilter } from '../ui/filter-fields.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { announcementStatusLabel } from '../ui/status.tsx'
import { textOf, textsOf, type ListSearch } from '../ui/use-page-search.ts'
import { parseNetwork } from './parse-network.ts'

type FilterProps = Pick<ListSearch<'/announcements'>, 'filters' | 'setFilters'>

export function AnnouncementFilters({ filters, setFilters }: FilterProps) {
  const regions = useAnswer(listRegionsRoute, { query: { limit: 1000 } })
  return (
    <>
      <SearchField
        isMain
        label="Prefix or address"
        width={160}
        value={textOf(filters.cidr)}
        mistakeIn={(text) =>
          networksIn(text).includes(undefined)
            ? 'Enter an address or prefix, such as 203.0.113.0/24'
            : undefined
        }
        onCommit={(text) => setFilters({ cidr: networksIn(text).filter((one) => one !== undefined) })}
      />
      <MultiSelectFilter
        label="Status"
        placeholder="Any status"
        width={150}
        options={announcementStatuses.map((status) => ({
          value: status,
          label: announcementStatusLabel(status),
        }))}
        value={filters.status}
        onChange={(status) => setFilters({ status })}
      />
      <MultiSelectFilter
        label="Region"
        placeholder="Any region"
        width={130}
        options={regions.data?.results.map(({ slug, name }) => ({ value: slug, label: name })) ?? []}
        value={filters.region}
        onChange={(region) => setFilters({ region })}
      />
      <OriginFilter filters={filters} setFilters={setFilters} />
      <YesNoFilter
        label="Enabled"
        placeholder="Enabled or not"
        width={130}
        yes="Enabled"
        no="Disabled"
        value={filters.enabled}
        onChange={(enabled) => setFilters({ enabled })}
      />
      <SelectFilter
        label="Address family"
        placeholder="IPv4 and IPv6"
        width={130}
        options={[
          { value: '4', label: 'IPv4' },
          { value: '6', label: 'IPv6' },
        ]}
        value={filters.family}
        onChange={(family) => setFilters({ family })}
      />
      <Switch
        size="xs"
        mt={6}
        label="Show deleted"
        checked={filters.deleted === true}
        onChange={(event) => setFilters({ deleted: event.currentTarget.checked || undefined })}
      />
    </>
  )
}

/** Returns the networks of a text; undefined for each part that is incomplete or invalid. */
const networksIn = (text: string): (string | undefined)[] =>
  text
    .split(/[\s,]+/)
    .filter((word) => word !== '')
    .map(parseNetwork)

/** The team's ASNs, and those of the address that the team no longer has. */
function OriginFilter({ filters, setFilters }: FilterProps) {
  const asns = useAnswer(listAsnsRoute, { query: { limit: 1000 } })
  const chosen = textsOf(filters.origin_asn)
  const known = asns.data?.results.map(({ asn }) => String(asn)) ?? []
  return (
    <MultiSelectFilter
      label="Origin AS"
      placeholder="Any origin AS"
      width={130}
      options={[...new Set([...known, ...chosen])].map((asn) => ({ value: asn, label: `AS${asn}` }))}
      value={chosen}
      onChange={(origins) => setFilters({ origin_asn: origins.map(Number) })}
    />
  )
}
