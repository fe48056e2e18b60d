// The team's address space as a tree: what each prefix and each part of it is used for.
import { Skeleton, Table } from '@mantine/core'
import { useMemo, useState } from 'react'
import { useGrant } from '../api/use-grant.ts'
import { Dimmed } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { ButtonLink } from '../ui/link.tsx'
import { NotUpdated } from '../ui/not-updated.tsx'
import { Page } from '../ui/page.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { Section } from '../ui/section.tsx'
import { textOf, usePageSearch } from '../ui/use-page-search.ts'
import { PrefixRow } from './prefix-row.tsx'
import { contains, rangeOf, rowsOf, treeOf } from './prefix-tree.ts'
import { limit, nameOf, useNetworks, type UsedNode } from './use-networks.ts'
import { onTreeKey } from './tree-keys.ts'
import { words } from './words.ts'

const { tree: texts } = words

export function Prefixes() {
  const { answers, isPending, isPart, networks, truncated } = useNetworks()
  const { search, setSearch } = usePageSearch('/prefixes')
  const roots = useMemo(() => treeOf(networks), [networks])
  const find = textOf(search.find)
  return (
    <Page title={texts.title} note={texts.note}>
      <NotUpdated answers={answers} />
      {truncated.length > 0 && <Dimmed>{texts.truncated(limit, truncated)}</Dimmed>}
      {isPending ? (
        <Skeleton height={320} radius="lg" />
      ) : roots.length === 0 ? (
        // Without an answer it is unknown whether there are prefixes.
        !isPart && <NoPrefixes />
      ) : (
        <Section
          title={texts.space}
          flush
          actions={
            <SearchField
              isMain
              label={texts.search}
              placeholder={texts.search}
              width={240}
              value={find}
              onCommit={(text) => setSearch({ find: text })}
            />
          }
        >
          <Tree roots={roots} find={find} />
        </Section>
      )}
    </Page>
  )
}

function NoPrefixes() {
  const canAdd = useGrant('ipam.manage')
  return (
    <Empty title={texts.empty}>
      {texts.emptyText}
      {canAdd && (
        <p>
          <ButtonLink to="/announcements/new" variant="default">
            {texts.add}
          </ButtonLink>
        </p>
      )}
    </Empty>
  )
}

/** Larger trees begin closed below their first level. */
const openMax = 60

function Tree({ roots, find }: { roots: readonly UsedNode[]; find: string }) {
  const all = useMemo(() => rowsOf(roots, () => true), [roots])
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set())
  const opens = all.length <= openMax
  const isOpen = ({ cidr }: UsedNode) => toggled.has(cidr) !== opens
  const found = find === '' ? undefined : all.filter((node) => isFound(node, find))
  const rows = found ?? rowsOf(roots, isOpen)
  const toggle = ({ cidr }: UsedNode) =>
    setToggled((now) => new Set(now.has(cidr) ? [...now].filter((one) => one !== cidr) : [...now, cidr]))
  if (found?.length === 0) return <Empty title={texts.noneFound} />
  return (
    <Table.ScrollContainer minWidth={560}>
      <Table role="treegrid" aria-label={texts.title} onKeyDown={onTreeKey}>
        <Table.Thead>
          <Table.Tr>
            {[texts.prefix, texts.uses, texts.name, texts.parts].map((head) => (
              <Table.Th key={head}>{head}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((node) => (
            <PrefixRow
              key={node.cidr}
              node={node}
              {...(found || node.children.length === 0 ? {} : { isOpen: isOpen(node), onToggle: toggle })}
            />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

/** An address or a prefix finds what overlaps it, other text what is named so. */
function isFound({ cidr, range, of }: UsedNode, find: string): boolean {
  const wanted = rangeOf(find.trim())
  if (wanted) return contains(range, wanted) || contains(wanted, range)
  const text = [cidr, ...of.map(nameOf)].join(' ').toLowerCase()
  return text.includes(find.trim().toLowerCase())
}
