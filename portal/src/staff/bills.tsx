// The closed bills of all customers: invoiced amounts, bills that need a decision, and the changes by corrections.
import { Stack, Text } from '@mantine/core'
import { listStaffBillsRoute, type StaffBill } from '@pharos/contract/operator/bill'
import { billedText } from '@pharos/contract/inventory/bill-text'
import { modelOf, summaryOf } from '../inventory/bill-figures.ts'
import { monthText, pastMonths } from '../inventory/bill-month.ts'
import { creditText, PriceLines } from '../inventory/bill-price.tsx'
import { moneyText } from '../inventory/money-text.ts'
import { words as inventory } from '../inventory/words.ts'
import { Dimmed, Mono, OrDash, timeColumn } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { Facts } from '../ui/facts.tsx'
import type { Column } from '../ui/list-column.ts'
import { yesNo } from '../ui/list-filter.ts'
import type { PanelDeclaration } from '../ui/list-panel.tsx'
import { List } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { StatePill } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { useListSearch, type ListDeclaration } from '../ui/use-list-search.ts'
import { words } from './words.ts'

const { bills: t } = words
const { bill: texts } = inventory

function BillState({ bill }: { bill: StaffBill }) {
  if (bill.corrected_by !== null) return <StatePill color="idle">{t.replaced(bill.corrected_by)}</StatePill>
  if (bill.review !== null) return <StatePill color="warn">{t.review}</StatePill>
  if (bill.problem !== null) return <StatePill color="warn">{t.noFigure}</StatePill>
  return <StatePill color="ok">{bill.corrects === null ? t.final : t.corrects(bill.corrects)}</StatePill>
}

const columns: readonly Column<StaffBill>[] = [
  {
    id: 'service',
    header: t.service,
    orderBy: 'service',
    width: 200,
    grows: true,
    card: 'primary',
    cell: ({ service, port_id, name }) => (port_id === null ? service : `${service}, ${name}`),
  },
  {
    id: 'team',
    header: t.team,
    orderBy: 'team',
    width: 140,
    card: 'secondary',
    cell: ({ team }) => <OrDash>{team}</OrDash>,
  },
  { id: 'period', header: t.month, orderBy: 'period', width: 140, cell: ({ period }) => monthText(period) },
  {
    id: 'billed',
    header: t.billed,
    align: 'right',
    width: 120,
    cell: (bill) => <OrDash>{billedText(bill)}</OrDash>,
  },
  {
    id: 'amount',
    header: texts.amount,
    align: 'right',
    width: 140,
    cell: ({ price }) => <OrDash>{price?.amount && moneyText(price.amount, price.currency)}</OrDash>,
  },
  { id: 'state', header: t.state, width: 170, card: 'state', cell: (bill) => <BillState bill={bill} /> },
  {
    id: 'reference',
    header: t.reference,
    width: 140,
    cell: ({ billing_ref }) => <OrDash>{billing_ref}</OrDash>,
  },
  timeColumn('closed', t.closed, ({ closed }) => closed, { orderBy: 'closed', hidden: true }),
]

const panel: PanelDeclaration<StaffBill> = {
  title: (_bill, id) => t.bill(id),
  render: (_id, bill) => (bill ? <BillDetails bill={bill} /> : <Dimmed>{t.notInView}</Dimmed>),
}

function BillDetails({ bill }: { bill: StaffBill }) {
  return (
    <Stack gap="sm">
      <Facts
        facts={[
          [t.team, bill.team],
          [t.service, bill.service],
          [t.reference, bill.billing_ref],
          [
            t.port,
            bill.port_id === null ? texts.portsTogether(bill.port_ids.length) : bill.circuit_id || bill.name,
          ],
          [texts.model, modelOf(bill)],
          [texts.billed, summaryOf(bill)],
          [texts.samples, texts.samplesOf(bill.samples, bill.missing_samples)],
          [texts.from, <Time key="from" at={bill.period_start} />],
          [texts.until, <Time key="until" at={bill.period_end} />],
          [texts.hashShort, bill.samples_sha256 && <Mono>{bill.samples_sha256.slice(0, 8)}</Mono>],
        ]}
      />
      {bill.problem !== null && <Text size="sm">{t.problems[bill.problem]}</Text>}
      {bill.correction_reason !== null && <Text size="sm">{t.reason(bill.correction_reason)}</Text>}
      {bill.credit_note !== null && <Text size="sm">{creditText(bill.credit_note)}</Text>}
      {bill.price !== null && <PriceLines price={bill.price} />}
      {bill.review !== null && bill.corrected_by === null && <Text size="sm">{t.decide(bill.bill_id)}</Text>}
    </Stack>
  )
}

const declaration: ListDeclaration = {
  sort: '-period,team,service',
  filters: [
    {
      kind: 'choice',
      name: 'period',
      label: t.month,
      isSingle: true,
      isOpen: true,
      options: pastMonths(new Date()),
    },
    yesNo('current', t.current, t.currentYes, t.currentNo),
    yesNo('needs_decision', t.review, t.reviewYes, t.reviewNo),
  ],
}

const idOf = ({ bill_id: id }: StaffBill): string => String(id)

export function StaffBills() {
  const view = useListSearch('/staff/bills', declaration)
  return (
    <Page title={t.title} note={t.pageNote}>
      <List<StaffBill>
        name="staff-bills"
        things={t.things}
        route={listStaffBillsRoute}
        view={view}
        columns={columns}
        idOf={idOf}
        panel={panel}
        empty={<Empty title={t.none}>{t.noneHelp}</Empty>}
      />
    </Page>
  )
}
