// The servers of the zone: the serial of each name server beside the published one and how long it took to get it, the delegation at the
// parent, and commands that show the same in a terminal.
import { Stack, Table, Text } from '@mantine/core'
import type { Zone } from '@pharos/contract/dns/zone'
import { OrDash } from '../ui/cells.tsx'
import { CopyBlock } from '../ui/copy.tsx'
import { Facts } from '../ui/facts.tsx'
import { Section } from '../ui/section.tsx'
import { StatePill } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { digOf } from './dig.ts'
import { words } from './words.ts'
import { ServerPill } from './zone-state.tsx'
import classes from './zones.module.css'

const { servers: texts } = words

export function ServersTab({ zone }: { zone: Zone }) {
  return (
    <Stack>
      <Served zone={zone} />
      <Delegation zone={zone} />
      <Commands zone={zone} />
    </Stack>
  )
}

/** Serials are compared in the arithmetic of RFC 1982. */
const behindBy = (published: number | null, serial: number | null): number =>
  published === null || serial === null ? 0 : (published - serial) | 0

/** Returns how long after the publication the server had the serial; empty if the observation started later, such as after a failure. */
function delayText(published: string | null, since: string | null) {
  const ms = published === null || since === null ? NaN : Date.parse(since) - Date.parse(published)
  return ms >= 0 && ms < longestDelayMs ? <div className={classes['comment']}>{texts.delay(ms)}</div> : null
}
const longestDelayMs = 3_600_000

function Served({ zone: { servers = [], serial, published } }: { zone: Zone }) {
  const current = servers.filter(({ state }) => state === 'serving').length
  return (
    <Section
      title={texts.title}
      flush={servers.length > 0}
      note={
        servers.length > 0 && (
          <StatePill color={current === servers.length ? 'ok' : 'info'}>
            {texts.current(current, servers.length)}
          </StatePill>
        )
      }
    >
      {servers.length === 0 ? (
        <Text size="sm" c="dimmed">
          {texts.none}
        </Text>
      ) : (
        <Table.ScrollContainer minWidth={620}>
          <Table aria-label={texts.title}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{texts.name}</Table.Th>
                <Table.Th>{texts.region}</Table.Th>
                <Table.Th>{texts.state}</Table.Th>
                <Table.Th ta="right">{texts.serial}</Table.Th>
                <Table.Th>{texts.since}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {servers.map((server) => (
                <ServerRow key={server.name} server={server} serial={serial} published={published} />
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      <Facts
        facts={
          servers.length > 0
            ? []
            : [
                [texts.serialNow, serial === null ? null : String(serial)],
                [texts.publishedAt, <Time key="since" at={published} none={words.list.notPublished} />],
              ]
        }
      />
    </Section>
  )
}

type ServerRowProps = Pick<Zone, 'serial' | 'published'> & { server: NonNullable<Zone['servers']>[number] }

const ServerRow = ({ server, serial, published }: ServerRowProps) => (
  <Table.Tr>
    <Table.Td className={classes['mono']!} data-verbatim>
      {server.name}
    </Table.Td>
    <Table.Td>
      <OrDash>{server.region}</OrDash>
    </Table.Td>
    <Table.Td>
      <ServerPill state={server.state} />
    </Table.Td>
    <Table.Td ta="right" className={classes['mono']!}>
      <OrDash>{server.serial}</OrDash>
      {behindBy(serial, server.serial) > 0 && (
        <div className={classes['comment']}>{texts.behind(behindBy(serial, server.serial))}</div>
      )}
    </Table.Td>
    <Table.Td>
      <Time at={server.since} />
      {server.state === 'serving' && delayText(published, server.since)}
    </Table.Td>
  </Table.Tr>
)

function Delegation({ zone: { nameservers } }: { zone: Zone }) {
  const { assigned, delegated, delegation_status: status, delegation_last_check: checked } = nameservers
  const color = {
    delegated: 'ok',
    partial: 'warn',
    elsewhere: 'warn',
    absent: 'warn',
    unavailable: 'idle',
    unknown: 'idle',
  } as const
  return (
    <Section
      title={texts.delegation}
      note={<StatePill color={color[status]}>{words.delegation[status]}</StatePill>}
    >
      <Facts
        facts={[
          [texts.assigned, <Names key="assigned" names={assigned} />],
          [
            texts.delegated,
            delegated.length > 0 ? (
              <Names key="delegated" names={delegated} />
            ) : status === 'absent' ? (
              texts.noneDelegated
            ) : null,
          ],
          [words.facts.checked, <Time key="checked" at={checked} none={words.facts.never} />],
        ]}
      />
    </Section>
  )
}

/** Commands that verify this page from a terminal. */
function Commands({ zone: { name, nameservers } }: { zone: Zone }) {
  const commands = [
    ...nameservers.assigned.map((server) => digOf({ name, type: 'SOA', server, options: ['+short'] })),
    digOf({ name, type: 'NS', options: ['+trace'] }),
  ]
  return (
    <Section title={texts.commands}>
      <Stack gap="xs">
        <Text size="sm" c="dimmed">
          {texts.commandsText}
        </Text>
        <CopyBlock text={commands.join('\n')} label={texts.copyCommands} />
      </Stack>
    </Section>
  )
}

const Names = ({ names }: { names: readonly string[] }) => (
  <ul className={classes['names']} data-verbatim>
    {names.map((name) => (
      <li key={name}>{name}</li>
    ))}
  </ul>
)
