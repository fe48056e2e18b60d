// The servers of the zone: the serial of each name server beside the published one, and the delegation at the parent.
import { Table, Text } from '@mantine/core'
import type { Zone } from '@pharos/contract/dns-zone'
import { Stack } from '@mantine/core'
import { OrDash } from '../ui/cells.tsx'
import { Facts } from '../ui/facts.tsx'
import { Section } from '../ui/section.tsx'
import { StatePill } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { words } from './words.ts'
import { ServerPill } from './zone-state.tsx'
import classes from './zones.module.css'

const { servers: texts } = words

export function ServersTab({ zone }: { zone: Zone }) {
  return (
    <Stack>
      <Served zone={zone} />
      <Delegation zone={zone} />
    </Stack>
  )
}

/** Serials are compared in the arithmetic of RFC 1982. */
const behindBy = (published: number | null, serial: number | null): number =>
  published === null || serial === null ? 0 : (published - serial) | 0

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
        <Table.ScrollContainer minWidth={560}>
          <Table aria-label={texts.title}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{texts.name}</Table.Th>
                <Table.Th>{texts.region}</Table.Th>
                <Table.Th>{texts.state}</Table.Th>
                <Table.Th ta="right">{texts.serial}</Table.Th>
                <Table.Th>{texts.checked}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {servers.map((server) => (
                <Table.Tr key={server.name}>
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
                      <div className={classes['comment']}>
                        {texts.behind(behindBy(serial, server.serial))}
                      </div>
                    )}
                  </Table.Td>
                  <Table.Td>
                    <Time at={server.checked} none={texts.neverChecked} />
                  </Table.Td>
                </Table.Tr>
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
                [texts.since, <Time key="since" at={published} none={words.list.notPublished} />],
              ]
        }
      />
    </Section>
  )
}

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
            delegated.length === 0 ? texts.noneDelegated : <Names key="delegated" names={delegated} />,
          ],
          [words.facts.checked, <Time key="checked" at={checked} none={words.facts.never} />],
        ]}
      />
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
