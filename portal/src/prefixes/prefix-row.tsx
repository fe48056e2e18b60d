// One network of the tree: what it is used for, and a picture of its parts.
import { ActionIcon, Table } from '@mantine/core'
import { networkText } from '@pharos/contract/network-text'
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { TextLink } from '../ui/link.tsx'
import { announcementStatusShown, StatePill, type StateColor } from '../ui/status.tsx'
import { partsOf } from './prefix-tree.ts'
import { nameOf, type Use, type UsedNode } from './use-networks.ts'
import classes from './prefixes.module.css'
import { words } from './words.ts'

const { tree: texts } = words

type RowProps = {
  readonly node: UsedNode
  /** Undefined if it has no parts. */
  readonly isOpen?: boolean
  readonly onToggle?: (node: UsedNode) => void
}

export function PrefixRow({ node, isOpen, onToggle }: RowProps) {
  const { cidr, depth, of, children } = node
  const names = [...new Set(of.map(nameOf).filter((name) => name !== ''))]
  return (
    <Table.Tr aria-level={depth + 1} {...(isOpen === undefined ? {} : { 'aria-expanded': isOpen })}>
      <Table.Td>
        <span className={classes['prefix']} style={{ '--depth': depth } as React.CSSProperties}>
          {onToggle ? (
            <ActionIcon
              variant="subtle"
              size="sm"
              aria-label={isOpen ? texts.close(cidr) : texts.open(cidr)}
              onClick={() => onToggle(node)}
            >
              {isOpen ? <IconChevronDown size={14} /> : <IconChevronRight size={14} />}
            </ActionIcon>
          ) : (
            <span className={classes['leaf']} />
          )}
          <PageOf node={node} />
        </span>
      </Table.Td>
      <Table.Td>
        <span className={classes['uses']}>
          {of.map((use, at) => (
            <UsePill key={at} use={use} />
          ))}
        </span>
      </Table.Td>
      <Table.Td>{names.join(' · ')}</Table.Td>
      <Table.Td>{children.length > 0 && <Parts node={node} />}</Table.Td>
    </Table.Tr>
  )
}

/** The prefix leads to the page that says most about it. */
function PageOf({ node: { cidr, of } }: { node: UsedNode }): ReactNode {
  const text = { size: 'sm', ff: 'monospace' } as const
  const announced = of.find((use) => use.kind === 'announcement')
  if (announced)
    return (
      <TextLink to="/announcements/$id" params={{ id: String(announced.announcement.id) }} {...text}>
        {networkText(cidr)}
      </TextLink>
    )
  const assigned = of.find((use) => use.kind === 'assigned')
  if (assigned)
    return (
      <TextLink to="/prefixes/$id" params={{ id: String(assigned.prefix.id) }} {...text}>
        {networkText(cidr)}
      </TextLink>
    )
  return <span className={classes['mono']}>{networkText(cidr)}</span>
}

function UsePill({ use }: { use: Use }): ReactNode {
  const link = { size: 'sm', c: 'inherit', underline: 'hover' } as const
  switch (use.kind) {
    case 'assigned':
      return (
        <TextLink to="/prefixes/$id" params={{ id: String(use.prefix.id) }} {...link}>
          <StatePill color="idle">{texts.assigned}</StatePill>
        </TextLink>
      )
    case 'announcement': {
      const { color, label, moving = false } = announcementStatusShown(use.announcement.status)
      return (
        <TextLink to="/announcements/$id" params={{ id: String(use.announcement.id) }} {...link}>
          <StatePill color={color} moving={moving}>
            {label}
          </StatePill>
        </TextLink>
      )
    }
    case 'shield':
      return (
        <TextLink to="/shield/rules" search={{ prefix: use.list.prefix }} {...link}>
          <StatePill color={use.list.status === 'error' ? 'bad' : 'info'}>
            {texts.rules(use.list.rule_count)}
          </StatePill>
        </TextLink>
      )
    case 'blackhole':
      return (
        <TextLink to="/shield" {...link}>
          <StatePill color="warn">{texts.blackhole}</StatePill>
        </TextLink>
      )
    case 'zone':
      return (
        <TextLink to="/zones/$id" params={{ id: String(use.zone.id) }} {...link}>
          <StatePill color="ok">{texts.reverse}</StatePill>
        </TextLink>
      )
    case 'attack':
      return (
        <TextLink to="/events/$id" params={{ id: use.incident.id }} {...link}>
          <StatePill color="bad" moving>
            {texts.attack}
          </StatePill>
        </TextLink>
      )
  }
}

const isUsed = (use: Use): boolean =>
  use.kind === 'announcement' || use.kind === 'blackhole' || use.kind === 'attack'

const colorOf = (node: UsedNode): StateColor => {
  const uses = node.of
  if (uses.some(({ kind }) => kind === 'attack')) return 'bad'
  if (uses.some(({ kind }) => kind === 'blackhole')) return 'warn'
  const announced = uses.find((use) => use.kind === 'announcement')
  return announced ? announcementStatusShown(announced.announcement.status).color : 'idle'
}

/** A single address in a large network is drawn as wide as can be seen. */
const shareMin = 0.012

/** The network from its first to its last address, with the parts that are announced, attacked or dropped. */
function Parts({ node }: { node: UsedNode }) {
  const within = partsOf({ ...node, of: [] }, isUsed)
  const share = within.reduce((sum, part) => sum + part.share, 0)
  // No claim that there are none: announcements may not be readable.
  if (within.length === 0) return null
  return (
    <span className={classes['parts']} role="img" aria-label={texts.partsLabel(within.length, share)}>
      {within.map(({ node: part, start, share: width }) => (
        <span
          key={part.cidr}
          className={classes['part']}
          data-color={colorOf(part)}
          title={part.cidr}
          style={{
            left: `${Math.min(start, 1 - shareMin) * 100}%`,
            width: `${Math.max(width, shareMin) * 100}%`,
          }}
        />
      ))}
    </span>
  )
}
