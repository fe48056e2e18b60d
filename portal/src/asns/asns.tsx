// The team's ASNs with the state of their proof, and the way to prove another.
import { Anchor, Button, Group, NumberInput, Text } from '@mantine/core'
import { listAsnsRoute, type HeldAsn } from '@pharos/contract/inventory'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState, type FormEvent } from 'react'
import { Empty } from '../ui/empty.tsx'
import { YesOrNo } from '../ui/filter-fields.tsx'
import { List, type Column } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { daysUntil, Time } from '../ui/time.tsx'
import { useListSearch } from '../ui/use-list-search.ts'
import { HoldBadge } from './words.tsx'

const columns: readonly Column<HeldAsn>[] = [
  {
    id: 'asn',
    header: 'ASN',
    orderBy: 'asn',
    cell: ({ asn }) => (
      <Anchor
        component={Link}
        to="/asns/$asn"
        params={{ asn: String(asn) } as never}
        size="sm"
        ff="monospace"
      >
        AS{asn}
      </Anchor>
    ),
  },
  {
    id: 'name',
    header: 'Name',
    cell: ({ name }) =>
      name || (
        <Text span c="dimmed">
          –
        </Text>
      ),
  },
  { id: 'proof', header: 'Proof', cell: (held) => <HoldBadge {...held} /> },
  { id: 'verified', header: 'Since', cell: ({ verified }) => <Time at={verified} none="not proven" /> },
  { id: 'expires', header: 'Ends', cell: (held) => <Ends {...held} /> },
  {
    id: 'created',
    header: 'Added',
    orderBy: 'created',
    hidden: true,
    cell: ({ created }) => <Time at={created} />,
  },
  { id: 'id', header: 'Id', orderBy: 'id', hidden: true, align: 'right', cell: ({ id }) => id },
]

function Ends({ verified, expires }: HeldAsn) {
  if (verified === null) return null
  if (expires === null) return <>does not end</>
  const days = daysUntil(expires)
  return (
    <>
      <Time at={expires} />{' '}
      <Text span size="xs" c="dimmed">
        in {days} {days === 1 ? 'day' : 'days'}
      </Text>
    </>
  )
}

export function Asns() {
  const { filters, ordering, setFilters, setOrdering } = useListSearch({ ordering: 'asn' })
  const isFiltered = Object.keys(filters).length > 0
  return (
    <Page
      title="ASNs"
      note="A prefix is announced with the ASN of its holder as its origin. Proofs of an ASN are checked again every day."
    >
      <ProveAnother />
      <List<HeldAsn>
        name="asns"
        route={listAsnsRoute}
        filters={filters}
        columns={columns}
        ordering={ordering}
        onOrdering={setOrdering}
        refetchMs={30_000}
        toolbar={
          <YesOrNo
            label="Proof"
            none="Proven or not"
            width={150}
            yes="Proven"
            no="Not proven"
            value={filters['verified']}
            onChange={(verified) => setFilters({ verified })}
          />
        }
        empty={
          <Empty title={isFiltered ? 'No ASN is like that' : 'No ASN yet'}>
            {isFiltered ? (
              <Anchor
                component="button"
                size="sm"
                onClick={() => setFilters({ verified: undefined, asn: undefined })}
              >
                Take the filters away
              </Anchor>
            ) : (
              'Type the number of yours above: you are told what to add where, and once it is found, you can bring prefixes.'
            )}
          </Empty>
        }
      />
    </Page>
  )
}

/** Any number may be typed: whose it is, is what the proof shows. */
function ProveAnother() {
  const [asn, setAsn] = useState<string | number>('')
  const navigate = useNavigate()
  function submit(event: FormEvent) {
    event.preventDefault()
    void navigate({ to: '/asns/$asn', params: { asn: String(asn).replace(/\D/g, '') } as never })
  }
  return (
    <form onSubmit={submit}>
      <Group gap="xs" align="flex-end">
        <NumberInput
          size="xs"
          w={180}
          label="Prove an ASN"
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
          How to prove it
        </Button>
      </Group>
    </form>
  )
}
