// Reverse DNS: the addresses of a network as a grid with their names, bulk import of names, and templates for whole networks.
import { Group, Select, Skeleton, Stack, Tabs, Text } from '@mantine/core'
import { listPtrRecordsRoute } from '@pharos/contract/dns/ptr'
import { useQuery } from '@tanstack/react-query'
import { answerOf, useAnswer } from '../api/queries.ts'
import { useGrant, useHasModule } from '../api/use-grant.ts'
import { Empty } from '../ui/empty.tsx'
import { ButtonLink } from '../ui/link.tsx'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { Section } from '../ui/section.tsx'
import { textOf, usePageSearch } from '../ui/use-page-search.ts'
import { Batch } from './batch.tsx'
import { Grid, Legend } from './grid.tsx'
import { Names } from './names.tsx'
import { addressesOf, partsOf } from './networks.ts'
import { Templates } from './templates.tsx'
import { words } from './words.ts'
import classes from './reverse.module.css'
import { listAnnouncementsRoute } from '@pharos/contract/byoip/announcement'
import { listPrefixesRoute } from '@pharos/contract/inventory/prefix'

const limit = 1000

export function Reverse() {
  const { parts, error, refetch } = useNetworks()
  const canEdit = useGrant('dns.edit')
  const canAdd = useGrant('ipam.manage')
  const { search, setSearch } = usePageSearch('/reverse')
  const wanted = textOf(search.network)
  const network = parts?.includes(wanted) ? wanted : (parts?.[0] ?? '')
  const tab = search.tab === 'templates' ? 'templates' : 'addresses'
  return (
    <Page title={words.title} note={words.note} actions={canEdit && parts && parts.length > 0 && <Batch />}>
      {error && !parts ? (
        <Problem error={error} retry={refetch} />
      ) : !parts ? (
        <Skeleton height={420} radius="lg" />
      ) : parts.length === 0 ? (
        <Empty title={words.empty}>
          <Stack align="center">
            {words.emptyText}
            {canAdd && (
              <ButtonLink to="/announcements/new" variant="default">
                {words.addPrefix}
              </ButtonLink>
            )}
          </Stack>
        </Empty>
      ) : (
        <Tabs
          value={tab}
          onChange={(next) => setSearch({ tab: next === 'templates' ? 'templates' : undefined })}
          keepMounted={false}
        >
          <Tabs.List>
            <Tabs.Tab value="addresses">{words.tabs.addresses}</Tabs.Tab>
            <Tabs.Tab value="templates">{words.tabs.templates}</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="addresses" pt="md">
            <Stack>
              <Select
                label={words.network}
                data={parts}
                value={network}
                searchable
                allowDeselect={false}
                maw={300}
                limit={100}
                onChange={(next) => next && setSearch({ network: next })}
              />
              <Addresses cidr={network} />
            </Stack>
          </Tabs.Panel>
          <Tabs.Panel value="templates" pt="md">
            <Templates network={network} />
          </Tabs.Panel>
        </Tabs>
      )}
    </Page>
  )
}

function Addresses({ cidr }: { cidr: string }) {
  const answer = useQuery({
    ...answerOf(listPtrRecordsRoute, { query: { cidr, limit } }),
    refetchInterval: 30_000,
  })
  if (answer.error && !answer.data) return <Problem error={answer.error} retry={() => answer.refetch()} />
  if (!answer.data) return <Skeleton height={420} radius="lg" />
  const { results, count } = answer.data
  const addresses = addressesOf(cidr)
  return (
    <div className={classes['both']} data-grid={addresses.length > 0 || undefined}>
      {addresses.length > 0 && (
        <Section
          title={cidr}
          note={
            <Text span size="sm" c="dimmed">
              {words.named(count, addresses.length)}
            </Text>
          }
        >
          <Stack gap="sm">
            <Grid
              key={cidr}
              cidr={cidr}
              addresses={addresses}
              records={new Map(results.map((record) => [record.ip, record]))}
            />
            <Group>
              <Legend />
            </Group>
          </Stack>
        </Section>
      )}
      <Names key={cidr} records={results} count={count} />
    </div>
  )
}

/** The networks of the team: prefixes of the inventory, and announcements if the team has them. `parts` is undefined until both lists have answered. */
function useNetworks() {
  const hasAnnouncements = useHasModule('ipam')
  const prefixes = useAnswer(listPrefixesRoute, { query: { limit } })
  const announcements = useQuery({
    ...answerOf(listAnnouncementsRoute, { query: { limit } }),
    enabled: hasAnnouncements,
  })
  const isKnown = prefixes.data !== undefined && (!hasAnnouncements || announcements.data !== undefined)
  const cidrs = [...(prefixes.data?.results ?? []), ...(announcements.data?.results ?? [])].map(
    ({ cidr }) => cidr,
  )
  return {
    parts: isKnown ? partsOf(cidrs) : undefined,
    error: prefixes.error ?? announcements.error,
    refetch: () => Promise.all([prefixes.refetch(), ...(hasAnnouncements ? [announcements.refetch()] : [])]),
  }
}
