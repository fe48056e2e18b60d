// The inbox of the provider's staff: everything that needs a decision, one row for each request of a customer, the selected one beside it,
// and the decision by button or key. After a decision the next row is selected. It also lists the decisions that were made.
import { Button, SegmentedControl, Skeleton, UnstyledButton } from '@mantine/core'
import { IconArrowLeft } from '@tabler/icons-react'
import { useEffect, useRef } from 'react'
import { ButtonLink } from '../ui/link.tsx'
import { Empty } from '../ui/empty.tsx'
import { isHandledElsewhere } from '../ui/key-events.ts'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { Ago } from '../ui/task-row.tsx'
import { textOf, usePageSearch } from '../ui/use-page-search.ts'
import { AsnView } from './asn-view.tsx'
import { ChangeView } from './change-view.tsx'
import { useDecisionKeys } from './decision.tsx'
import { isRow, useDecided, useInbox, type InboxRow } from './inbox-rows.ts'
import { FormerRouterList } from './former-routers.tsx'
import { LetterView } from './letter-view.tsx'
import { BillsView, CrossConnectView, RestoreView } from './waiting-views.tsx'
import { askedText, personOf, teamNameOf, whatOf } from './request-text.ts'
import { ApprovalView } from './approval-view.tsx'
import { words } from './words.ts'
import classes from './staff.module.css'

const { inbox: t } = words

const noRows: readonly InboxRow[] = []

export function InboxPage() {
  const { search, setSearch } = usePageSearch('/staff/inbox')
  const isDecided = textOf(search.state) === 'decided'
  const inbox = useInbox()
  const decided = useDecided(isDecided)
  const { rows, error, retry } = isDecided ? decided : inbox
  const known = (isDecided ? decided.rows : inbox.known) ?? noRows
  const chosen = textOf(search.show)
  const { selected, elsewhere } = useSelected(known, chosen)
  useDecisionKeys()
  useListKeys(known, selected?.key, (key) => setSearch({ show: key }))
  return (
    <Page
      title={t.title}
      note={t.note}
      actions={
        <>
          <StateFilter isDecided={isDecided} onChange={(state) => setSearch({ state, show: undefined })} />
          <ButtonLink variant="default" to="/staff/letters" search={{ status: 'all' }}>
            {t.all}
          </ButtonLink>
        </>
      }
    >
      {error !== null && error !== undefined && <Problem error={error} retry={retry} />}
      {error && known.length > 0 ? <div role="status">{t.incomplete}</div> : null}
      {!rows && !error && known.length === 0 && <Skeleton height={240} />}
      {rows?.length === 0 && elsewhere === undefined && (
        <Empty title={isDecided ? t.noneDecided : t.empty}>
          {isDecided ? t.noneDecidedHelp : t.emptyHelp}
        </Empty>
      )}
      {(known.length > 0 || (rows && elsewhere !== undefined)) && (
        <div className={classes['desk']} data-open={chosen !== '' || undefined}>
          <Side
            rows={known}
            selected={selected}
            note={
              !isDecided && inbox.count !== undefined && inbox.known.length < inbox.count
                ? t.more(inbox.known.length, inbox.count)
                : undefined
            }
            onSelect={(key) => setSearch({ show: key })}
          />
          <div className={classes['details']}>
            <Button
              variant="subtle"
              size="xs"
              mb="xs"
              px={4}
              className={classes['back']!}
              leftSection={<IconArrowLeft size={14} />}
              onClick={() => setSearch({ show: undefined })}
            >
              {t.back}
            </Button>
            {selected && <Details key={selected.key} row={selected} />}
            {rows && elsewhere !== undefined && <ApprovalView id={elsewhere} />}
          </div>
        </div>
      )}
    </Page>
  )
}

/**
 * Returns the chosen row; once that is decided, the row that took its place. `elsewhere`: the id of a chosen approval that has not been in
 * the list, such as that of an old notification.
 */
function useSelected(
  rows: readonly InboxRow[],
  chosen: string,
): { readonly selected: InboxRow | undefined; readonly elsewhere: number | undefined } {
  const last = useRef({ index: 0, chosen: '' })
  const at = rows.findIndex((row) => isRow(row, chosen))
  const index = at >= 0 ? at : Math.min(last.current.index, rows.length - 1)
  useEffect(() => {
    if (index >= 0) last.current = { index, chosen: at >= 0 ? chosen : last.current.chosen }
  }, [index, at, chosen])
  const id = /^approval-(\d+)$/.exec(chosen)?.[1]
  const isElsewhere = at < 0 && id !== undefined && last.current.chosen !== chosen
  return { selected: isElsewhere ? undefined : rows[index], elsewhere: isElsewhere ? Number(id) : undefined }
}

function useListKeys(
  rows: readonly InboxRow[],
  selected: string | undefined,
  select: (key: string) => void,
): void {
  const latest = useRef({ rows, selected, select })
  latest.current = { rows, selected, select }
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const step = event.key === 'j' ? 1 : event.key === 'k' ? -1 : 0
      if (step === 0 || isHandledElsewhere(event)) return
      const { rows: all, selected: now, select: go } = latest.current
      const next = all[all.findIndex(({ key }) => key === now) + step]
      if (!next) return
      event.preventDefault()
      go(next.key)
      document.querySelector<HTMLElement>(`[data-row="${CSS.escape(next.key)}"]`)?.focus()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}

type StateFilterProps = {
  readonly isDecided: boolean
  readonly onChange: (state: 'decided' | undefined) => void
}

const StateFilter = ({ isDecided, onChange }: StateFilterProps) => (
  <SegmentedControl
    size="xs"
    aria-label={t.filter}
    data={[
      { value: 'open', label: t.toDecide },
      { value: 'decided', label: t.decided },
    ]}
    value={isDecided ? 'decided' : 'open'}
    onChange={(next) => onChange(next === 'decided' ? next : undefined)}
  />
)

type SideProps = {
  readonly rows: readonly InboxRow[]
  readonly selected: InboxRow | undefined
  /** Says that the list is not complete. */
  readonly note: string | undefined
  readonly onSelect: (key: string) => void
}

const Side = ({ rows, selected, note, onSelect }: SideProps) => (
  <div className={classes['side']}>
    <ul className={classes['rows']} aria-label={t.list}>
      {rows.map((row) => (
        <li key={row.key}>
          <Row row={row} isSelected={row.key === selected?.key} onSelect={() => onSelect(row.key)} />
        </li>
      ))}
    </ul>
    {note !== undefined && <p className={classes['small']}>{note}</p>}
    <p className={classes['keys']}>{t.keys}</p>
  </div>
)

type RowProps = { readonly row: InboxRow; readonly isSelected: boolean; readonly onSelect: () => void }

const Row = ({ row, isSelected, onSelect }: RowProps) => (
  <UnstyledButton
    className={classes['row']!}
    data-row={row.key}
    {...(isSelected ? { 'aria-current': true } : {})}
    onClick={onSelect}
  >
    <span className={classes['rowTop']}>
      <span>{teamNameOf(row)}</span>
      <span className={classes['age']}>
        <Ago at={row.since} />
      </span>
    </span>
    <span className={classes['what']}>{whatOf(row)}</span>
    <span className={classes['rowNote']}>{askedText(personOf(row), words.inbox.kinds[row.kind])}</span>
  </UnstyledButton>
)

function Details({ row }: { row: InboxRow }) {
  if ('request' in row) return <ChangeView request={row.request} />
  if ('approval' in row) return <ApprovalView id={row.approval.id} />
  if ('letter' in row) return <LetterView letter={row.letter} />
  if ('claim' in row) return <AsnView claim={row.claim} />
  if ('connect' in row) return <CrossConnectView connect={row.connect} />
  if ('bills' in row) return <BillsView bills={row.bills} team={row.team} />
  if ('router' in row) return <FormerRouterList routers={[row.router]} />
  return <RestoreView restore={row.restore} />
}
