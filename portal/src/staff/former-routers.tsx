// Routers that regions no longer have and that are not empty yet: the routes left on each, and abandoning a router whose hardware is gone.
import { Button, Table, Text, VisuallyHidden } from '@mantine/core'
import {
  giveUpFormerRouterRoute,
  listFormerRoutersRoute,
  type FormerRouter,
} from '@pharos/contract/byoip/former-router'
import { call } from '../api/call.ts'
import { useAnswer } from '../api/queries.ts'
import { Mono } from '../ui/cells.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Problem } from '../ui/problem.tsx'
import { Section } from '../ui/section.tsx'
import { Time } from '../ui/time.tsx'
import { Effects } from './effects.tsx'
import { refreshInbox } from './inbox-rows.ts'
import { words } from './words.ts'
import classes from './staff.module.css'

const { formerRouters: t, regions } = words

/** Renders only if there are any. */
export function FormerRouters() {
  const answer = useAnswer(listFormerRoutersRoute, { query: { limit: 1000 } }, { refetchInterval: 5_000 })
  const routers = answer.data?.results ?? []
  return (
    <>
      {answer.error && <Problem error={answer.error} retry={answer.refetch} />}
      {routers.length > 0 && <FormerRouterList routers={routers} />}
    </>
  )
}

export function FormerRouterList({ routers }: { routers: readonly FormerRouter[] }) {
  return (
    <Section title={t.title} flush>
      <Text size="sm" px="md" pb="xs" c="dimmed">
        {t.help}
      </Text>
      <Table.ScrollContainer minWidth={720}>
        <Table fz="sm" className={classes['table']!}>
          <Table.Thead>
            <Table.Tr>
              {[t.region, regions.router, t.since, t.routesLeft, regions.lastCheck].map((head) => (
                <Table.Th key={head}>{head}</Table.Th>
              ))}
              <Table.Th>
                <VisuallyHidden>{regions.actions}</VisuallyHidden>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {routers.map((router) => (
              <Row key={router.id} router={router} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Section>
  )
}

function Row({ router }: { router: FormerRouter }) {
  const { region, name, router: identity, since, last_check, routes, error } = router
  return (
    <Table.Tr>
      <Table.Td>{region}</Table.Td>
      <Table.Td>
        {name} <Mono>{identity}</Mono>
        {error !== null && <div className={classes['bad']}>{error}</div>}
      </Table.Td>
      <Table.Td>
        <Time at={since} />
      </Table.Td>
      <Table.Td>{last_check === null ? t.upTo(routes) : routes.toLocaleString('en')}</Table.Td>
      <Table.Td>{last_check === null ? regions.never : <Time at={last_check} />}</Table.Td>
      <Table.Td>
        <GiveUp router={router} />
      </Table.Td>
    </Table.Tr>
  )
}

function GiveUp({ router: { id, region, name, routes } }: { router: FormerRouter }) {
  return (
    <Dialog
      route={giveUpFormerRouterRoute}
      title={t.giveUpTitle(name, region)}
      action={t.giveUp}
      danger
      trigger={(open) => (
        <Button size="xs" variant="default" aria-label={t.giveUpOf(name, region)} onClick={open}>
          {t.giveUp}
        </Button>
      )}
      onSubmit={async () => {
        await call(giveUpFormerRouterRoute, { params: { former_router_id: id } })
        await refreshInbox()
      }}
    >
      <Effects confirms texts={[t.onlyGone, t.countAsWithdrawn(routes)]} />
    </Dialog>
  )
}
