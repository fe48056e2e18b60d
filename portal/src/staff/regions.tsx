// Regions and their routers: the last observed state of each, and draining a router before maintenance.
import { Button, Card, Group, Skeleton, Table, Text, VisuallyHidden } from '@mantine/core'
import {
  drainRouterRoute,
  listAdminRegionsRoute,
  undrainRouterRoute,
  type AdminRegion,
  type RegionRouter,
} from '@pharos/contract/admin-region'
import { call } from '../api/call.ts'
import { invalidate, useAnswer } from '../api/queries.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Empty } from '../ui/empty.tsx'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import { StatePill } from '../ui/status.tsx'

export function Regions() {
  const answer = useAnswer(listAdminRegionsRoute, { query: { limit: 1000 } }, { refetchInterval: 5_000 })
  return (
    <Page title="Regions and routers" note="State of every router at the last check.">
      {answer.error && <Problem error={answer.error} />}
      {answer.isPending && <Skeleton height={120} />}
      {answer.data?.count === 0 && <Empty title="No regions yet">Add regions in the platform file.</Empty>}
      {answer.data?.results.map((region) => (
        <RegionCard key={region.slug} region={region} />
      ))}
    </Page>
  )
}

function RegionCard({ region }: { region: AdminRegion }) {
  const { slug, name, open, quorum, last_check, last_check_result, error, routers, open_hold } = region
  return (
    <Card component="section" aria-label={`Region ${slug}`}>
      <Group justify="space-between">
        <Group gap="xs">
          <Text fw={600}>{name}</Text>
          <ResultBadge result={last_check_result} words={['OK', 'Failed']} />
          {!open && <StatePill color="idle">Closed</StatePill>}
          {open_hold !== null && <StatePill color="warn">Paused changes</StatePill>}
        </Group>
        <Text size="xs" c="dimmed">
          {last_check === null ? (
            'Never checked'
          ) : (
            <>
              Last check <Time at={last_check} />
            </>
          )}
        </Text>
      </Group>
      <Text size="sm" my="xs">
        {quorum === null
          ? 'A route counts as announced once all routers that are not drained carry it.'
          : `A route counts as announced once ${quorum} of ${routers.length} routers carry it.`}
      </Text>
      {error !== null && (
        <Text size="sm" c="var(--bad)">
          {error}
        </Text>
      )}
      {last_check_result && <MissingFamilies region={region} />}
      <Table fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Router</Table.Th>
            <Table.Th>State</Table.Th>
            <Table.Th>Routes</Table.Th>
            <Table.Th>BGP sessions</Table.Th>
            <Table.Th>Last check</Table.Th>
            <Table.Th>
              <VisuallyHidden>Actions</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {routers.map((router) => (
            <RouterRow key={router.name} region={slug} router={router} />
          ))}
        </Table.Tbody>
      </Table>
    </Card>
  )
}

function MissingFamilies({ region: { neighbors_ipv4, neighbors_ipv6 } }: { region: AdminRegion }) {
  const missing = [...(neighbors_ipv4 ? [] : ['IPv4']), ...(neighbors_ipv6 ? [] : ['IPv6'])]
  if (missing.length === 0) return null
  return (
    <Text size="sm" c="var(--bad)">
      Too few routers have an established BGP session for {missing.join(' and ')}.
    </Text>
  )
}

function ResultBadge({ result, words }: { result: boolean | null; words: readonly [string, string] }) {
  if (result === null) return <StatePill color="idle">Unknown</StatePill>
  return <StatePill color={result ? 'ok' : 'bad'}>{words[result ? 0 : 1]}</StatePill>
}

function RouterRow({ region, router }: { region: string; router: RegionRouter }) {
  const { name, kind, drained, last_check, last_check_result, error, routes, neighbors } = router
  return (
    <Table.Tr>
      <Table.Td>
        {name}{' '}
        <Text span size="xs" c="dimmed">
          {kind}
        </Text>
      </Table.Td>
      <Table.Td>
        <Group gap={4}>
          <ResultBadge result={last_check_result} words={['Up', 'Down']} />
          {drained !== null && <StatePill color="info">Drained</StatePill>}
        </Group>
        {error !== null && (
          <Text size="xs" c="var(--bad)">
            {error}
          </Text>
        )}
      </Table.Td>
      <Table.Td>{routes ?? 'Unknown'}</Table.Td>
      <Table.Td>
        {neighbors.length === 0 && 'None'}
        {neighbors.map(({ address, asn, state, families, since }) => (
          <Text key={address} size="sm">
            {address} AS{asn}: {state}
            {families.length > 0 && ` (${families.map((one) => one.replace('ip', 'IP')).join(', ')})`}
            {since !== null && (
              <>
                {' '}
                since <Time at={since} />
              </>
            )}
          </Text>
        ))}
      </Table.Td>
      <Table.Td>{last_check === null ? 'Never' : <Time at={last_check} />}</Table.Td>
      <Table.Td>
        <Drain region={region} name={name} isDrained={drained !== null} />
      </Table.Td>
    </Table.Tr>
  )
}

function Drain({ region, name, isDrained }: { region: string; name: string; isDrained: boolean }) {
  const verb = isDrained ? 'Undrain' : 'Drain'
  return (
    <Dialog
      title={`${verb} ${name} in ${region}`}
      action={verb}
      danger={!isDrained}
      trigger={(open) => (
        <Button size="xs" variant="default" onClick={open} aria-label={`${verb} ${name} in ${region}`}>
          {verb}
        </Button>
      )}
      onSubmit={async () => {
        await call(isDrained ? undrainRouterRoute : drainRouterRoute, { params: { slug: region, name } })
        await invalidate(listAdminRegionsRoute)
      }}
    >
      <Text size="sm">
        {isDrained
          ? 'Announces all routes of the region on this router again.'
          : 'Withdraws our routes from this router, each once enough other routers of the region carry it. Nothing is withdrawn from the other routers.'}
      </Text>
    </Dialog>
  )
}
