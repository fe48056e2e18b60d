// The team's ASNs with the state of their verification, and the way to verify another.
import { Button, Group, NumberInput } from '@mantine/core'
import { listAsnsRoute, type HeldAsn } from '@pharos/contract/inventory/asn'
import { useNavigate } from '@tanstack/react-router'
import { useState, type SyntheticEvent } from 'react'
import { Dimmed, OrDash, timeColumn } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import type { Column } from '../ui/list-column.ts'
import { yesNo } from '../ui/list-filter.ts'
import { List } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { RowLink } from '../ui/row-link.tsx'
import { daysUntil, Time } from '../ui/time.tsx'
import { useListSearch, type ListDeclaration } from '../ui/use-list-search.ts'
import { AsnBadge } from './proof-labels.tsx'
import { words } from './words.ts'

const { list: texts } = words

const columns: readonly Column<HeldAsn>[] = [
  {
    id: 'asn',
    header: texts.asn,
    orderBy: 'asn',
    width: 140,
    card: 'primary',
    cell: ({ asn }) => <RowLink to={`/asns/${asn}`}>AS{asn}</RowLink>,
  },
  {
    id: 'name',
    header: texts.name,
    width: 220,
    grows: true,
    card: 'secondary',
    cell: ({ name }) => <OrDash>{name}</OrDash>,
  },
  {
    id: 'proof',
    header: texts.verification,
    width: 200,
    card: 'state',
    cell: (held) => <AsnBadge {...held} />,
  },
  timeColumn('verified', texts.since, ({ verified }) => verified, { none: texts.notVerified }),
  { id: 'expires', header: texts.expires, width: 250, cell: (held) => <Expiry {...held} /> },
  timeColumn('created', texts.added, ({ created }) => created, { orderBy: 'created', hidden: true }),
  { id: 'id', header: texts.id, orderBy: 'id', hidden: true, align: 'right', cell: ({ id }) => id },
]

function Expiry({ verified, expires }: HeldAsn) {
  if (verified === null) return null
  if (expires === null) return texts.never
  const days = daysUntil(expires)
  return (
    <>
      <Time at={expires} /> <Dimmed>{texts.in(days)}</Dimmed>
    </>
  )
}

const declaration: ListDeclaration = {
  sort: 'asn',
  filters: [
    yesNo('verified', texts.verification, texts.verified, texts.notVerified),
    { kind: 'text', name: 'asn', label: texts.number, hasMany: true, placeholder: '64496' },
  ],
}

export function Asns() {
  const view = useListSearch('/asns', declaration)
  return (
    <Page title={texts.title} note={texts.note}>
      <AddAsn />
      <List<HeldAsn>
        name="asns"
        things={texts.things}
        route={listAsnsRoute}
        view={view}
        columns={columns}
        refetchMs={30_000}
        empty={<Empty title={texts.empty}>{texts.emptyText}</Empty>}
      />
    </Page>
  )
}

/** Accepts any number: the proof shows the holder. */
function AddAsn() {
  const [asn, setAsn] = useState<string | number>('')
  const navigate = useNavigate()
  function submit(event: SyntheticEvent) {
    event.preventDefault()
    void navigate({ to: '/asns/$asn', params: { asn: String(asn).replace(/\D/g, '') } })
  }
  return (
    <form onSubmit={submit}>
      <Group gap="xs" align="flex-end">
        <NumberInput
          size="xs"
          w={180}
          label={texts.add}
          placeholder="AS64496"
          prefix="AS"
          hideControls
          allowDecimal={false}
          allowNegative={false}
          max={4_294_967_295}
          required
          data-search
          value={asn}
          onChange={setAsn}
        />
        <Button type="submit" variant="default">
          {texts.continue}
        </Button>
      </Group>
    </form>
  )
}
