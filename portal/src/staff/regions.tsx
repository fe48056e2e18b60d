// Regions and their routers: how many are healthy, the last observed state of each, and draining a router before maintenance.
import { Group, Skeleton, Table, Text, VisuallyHidden, Button } from '@mantine/core'
import {
  listAdminRegionsRoute,
  type AdminRegion,
  type RegionRouter,
  drainRouterRoute,
  undrainRouterRoute,
} from '@pharos/contract/operator/region'
import { useAnswer, invalidate } from '../api/queries.ts'
import { Mono } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { Figure } from '../ui/figure.tsx'
import { TextLink } from '../ui/link.tsx'
import { Grid, Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { Section } from '../ui/section.tsx'
import { StatePill, type StateColor } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { FormerRouters } from './former-routers.tsx'
import {
  healthOfRegions,
  healthOfRouters,
  healthOfSessions,
  regionResult,
  type RegionHealth,
} from '@pharos/contract/operator/region-health'
import { words } from './words.ts'
import classes from './staff.module.css'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { Dialog } from '../ui/dialog.tsx'

const { regions: t } = words

export function Regions() {
  const answer = useAnswer(listAdminRegionsRoute, { query: { limit: 1000 } }, { refetchInterval: 5_000 })
  const regions = answer.data?.results
  return (
    <Page title={t.title} note={t.note}>
      {answer.error && <Problem error={answer.error} retry={answer.refetch} />}
      {answer.isPending && <Skeleton height={120} />}
      {regions?.length === 0 && <Empty title={t.none}>{t.noneHelp}</Empty>}
      {regions && regions.length > 0 && <Figures regions={regions} />}
      <FormerRouters />
      {regions?.map((region) => (
        <RegionCard key={region.slug} region={region} />
      ))}
    </Page>
  )
}

function Figures({ regions }: { regions: readonly AdminRegion[] }) {
  const routers = regions.flatMap((one) => one.routers)
  const drained = routers.filter((one) => one.drained !== null).length
  return (
    <Grid min={150}>
      <HealthFigure label={t.regionsUp} health={healthOfRegions(regions)} />
      <HealthFigure label={t.routersUp} health={healthOfRouters(routers)} />
      <HealthFigure label={t.sessions} health={healthOfSessions(routers)} />
      <Figure label={t.drained} value={drained} unit={words.customers.of(routers.length)} />
    </Grid>
  )
}

function HealthFigure({ label, health: { ok, bad, unknown } }: { label: string; health: RegionHealth }) {
  const color: StateColor | undefined = bad > 0 ? 'bad' : unknown > 0 ? 'warn' : undefined
  const notes = [...(bad > 0 ? [t.problems(bad)] : []), ...(unknown > 0 ? [t.unknownOf(unknown)] : [])]
  return (
    <Figure
      label={label}
      value={ok}
      unit={words.customers.of(ok + bad + unknown)}
      note={notes.join(', ') || t.allKnown}
      {...(color ? { color } : {})}
    />
  )
}

function RegionCard({ region }: { region: AdminRegion }) {
  const { slug, name, open, quorum, last_check, last_check_result, error, routers, open_approval } = region
  return (
    <Section
      title={name}
      flush
      note={
        <Group gap="xs">
          <Mono>{slug}</Mono>
          <ResultPill result={regionResult(region)} texts={[t.ok, t.failed]} />
          {!open && <StatePill color="idle">{t.closed}</StatePill>}
          {open_approval !== null && (
            <TextLink to="/staff/inbox" search={{ show: `approval-${open_approval}` }} size="sm">
              <StatePill color="warn">{t.paused}</StatePill>
            </TextLink>
          )}
        </Group>
      }
      actions={
        <Text size="xs" c="dimmed">
          {last_check === null ? (
            t.neverChecked
          ) : (
            <>
              {t.lastCheck} <Time at={last_check} />
            </>
          )}
        </Text>
      }
    >
      <Text size="sm" px="md" pb="xs" c="dimmed">
        {quorum === null ? t.quorumAll : t.quorum(quorum, routers.length)}
      </Text>
      {error !== null && (
        <Text size="sm" px="md" pb="xs" className={classes['bad']!}>
          {error}
        </Text>
      )}
      {last_check_result && <MissingFamilies region={region} />}
      <Table.ScrollContainer minWidth={720}>
        <Table fz="sm" className={classes['table']!}>
          <Table.Thead>
            <Table.Tr>
              {[t.router, t.state, t.routes, t.neighbors, t.lastCheck].map((head) => (
                <Table.Th key={head}>{head}</Table.Th>
              ))}
              <Table.Th>
                <VisuallyHidden>{t.actions}</VisuallyHidden>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {routers.map((router) => (
              <RouterRow
                key={router.name}
                region={slug}
                router={router}
                isLast={!routers.some(({ name, drained }) => drained === null && name !== router.name)}
              />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Section>
  )
}

function MissingFamilies({ region: { neighbors_ipv4, neighbors_ipv6 } }: { region: AdminRegion }) {
  const missing = [...(neighbors_ipv4 ? [] : ['IPv4']), ...(neighbors_ipv6 ? [] : ['IPv6'])]
  if (missing.length === 0) return null
  return (
    <Text size="sm" px="md" pb="xs" className={classes['bad']!}>
      {t.missing(missing.join(' and '))}
    </Text>
  )
}

function ResultPill({ result, texts }: { result: boolean | null; texts: readonly [string, string] }) {
  if (result === null) return <StatePill color="idle">{words.unknown}</StatePill>
  return <StatePill color={result ? 'ok' : 'bad'}>{texts[result ? 0 : 1]}</StatePill>
}

type RouterRowProps = { readonly region: string; readonly router: RegionRouter; readonly isLast: boolean }

/** `isLast`: no other router of the region carries routes. */
function RouterRow({ region, router, isLast }: RouterRowProps) {
  const { name, kind, drained, last_check, last_check_result, error, routes, neighbors } = router
  return (
    <Table.Tr>
      <Table.Td>
        {name} <span className={classes['small']}>{kind}</span>
      </Table.Td>
      <Table.Td>
        <Group gap={4}>
          <ResultPill result={last_check_result} texts={[t.up, t.down]} />
          {drained !== null && <StatePill color="info">{t.isDrained}</StatePill>}
        </Group>
        {error !== null && <div className={classes['bad']}>{error}</div>}
      </Table.Td>
      <Table.Td>{routes?.toLocaleString('en') ?? words.unknown}</Table.Td>
      <Table.Td>
        {neighbors.length === 0 && (last_check_result === true ? t.noSessions : words.unknown)}
        {neighbors.map((neighbor) => (
          <Session key={neighbor.address} neighbor={neighbor} isKnown={last_check_result === true} />
        ))}
      </Table.Td>
      <Table.Td>{last_check === null ? t.never : <Time at={last_check} />}</Table.Td>
      <Table.Td>
        <Drain region={region} name={name} isDrained={drained !== null} isLast={isLast} />
      </Table.Td>
    </Table.Tr>
  )
}

type SessionProps = { readonly neighbor: RegionRouter['neighbors'][number]; readonly isKnown: boolean }

/** Data read from a router before it stopped answering is not its current state. */
function Session({ neighbor, isKnown }: SessionProps) {
  const { address, asn, state, families, since, end, received, missing } = neighbor
  const text =
    state === 'established'
      ? t.established(families.map((one) => one.replace('ip', 'IP')).join(', '))
      : t.sessionStates[state]
  return (
    <div>
      <Mono>{address}</Mono> AS{asn}: {isKnown ? text : words.unknown.toLowerCase()}
      {isKnown && since !== null && (
        <>
          {' '}
          {t.since} <Time at={since} />
        </>
      )}
      {isKnown && end !== null && <div className={classes['bad']}>{end.message}</div>}
      {isKnown && received !== null && missing !== null && (
        <div className={missing > 0 ? classes['bad'] : classes['small']}>
          {t.received(received, received + missing)}
        </div>
      )}
    </div>
  )
}

type DrainProps = {
  readonly region: string
  readonly name: string
  readonly isDrained: boolean
  /** No other router of the region carries routes. */
  readonly isLast: boolean
}

/** Drains a router before maintenance, and undrains it afterwards. */
function Drain({ region, name, isDrained, isLast }: DrainProps) {
  // The action of an open dialog stays, also when a colleague drains the router meanwhile.
  const [wasDrained, setWasDrained] = useState(isDrained)
  const verbOf = (drained: boolean) => (drained ? t.undrain : t.drain)
  return (
    <Dialog
      route={drainRouterRoute}
      title={t.drainOf(verbOf(wasDrained), name, region)}
      action={verbOf(wasDrained)}
      danger={!wasDrained}
      trigger={(open) => (
        <Button
          size="xs"
          variant="default"
          aria-label={t.drainOf(verbOf(isDrained), name, region)}
          onClick={() => {
            setWasDrained(isDrained)
            open()
          }}
        >
          {verbOf(isDrained)}
        </Button>
      )}
      onSubmit={async () => {
        await call(wasDrained ? undrainRouterRoute : drainRouterRoute, { params: { slug: region, name } })
        await invalidate(listAdminRegionsRoute)
      }}
    >
      <Text size="sm">{wasDrained ? t.undrainText : isLast ? t.drainLast : t.drainText}</Text>
    </Dialog>
  )
}
