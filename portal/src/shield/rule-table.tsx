// The rules of a list in order. A rule is moved by dragging its handle, with the arrow keys on it, or from its menu.
import { ActionIcon, Menu, UnstyledButton, VisuallyHidden } from '@mantine/core'
import type { ShieldRule, ShieldWarning, ShieldWhatIf } from '@pharos/contract/shield/shield'
import { IconDots, IconGripVertical } from '@tabler/icons-react'
import { useRef, useState, type DragEvent, type KeyboardEvent } from 'react'
import { formatRate } from '../ui/rate.ts'
import { StatePill, type StateColor } from '../ui/status.tsx'
import { Ago } from '../ui/task-row.tsx'
import { Time } from '../ui/time.tsx'
import { placeOf, warningText } from './effect.tsx'
import { changeOf, type DraftRule, type ListPlan } from './rule-draft.ts'
import { ruleReasonText } from './reason-text.ts'
import { RuleComment } from './rule-comment.tsx'
import { actionText, matchText, ruleText } from './rule-text.ts'
import classes from './shield.module.css'
import { words } from './words.ts'

const { editor: texts } = words

export type RuleTableProps = {
  readonly rules: readonly DraftRule[]
  readonly plan: ListPlan
  /** The applied rules by the key of their draft. */
  readonly applied: ReadonlyMap<string, ShieldRule>
  /** Packets per second that the applied rules match now, by the same keys. */
  readonly rates: ReadonlyMap<string, number>
  /** The effect of each rule in the last hour; undefined while it is not known. */
  readonly whatIf: ShieldWhatIf | undefined
  readonly warnings: readonly ShieldWarning[]
  readonly canChange: boolean
  readonly onMove: (from: number, to: number) => void
  readonly onEdit: (at: number) => void
  readonly onDuplicate: (at: number) => void
  readonly onToggle: (at: number) => void
  readonly onRemove: (at: number) => void
}

export function RuleTable(props: RuleTableProps) {
  const { rules, rates, canChange, onMove } = props
  const [dragged, setDragged] = useState<number>()
  const [over, setOver] = useState<number>()
  const [told, setTold] = useState('')
  const table = useRef<HTMLTableElement>(null)
  function move(from: number, to: number) {
    if (to < 0 || to >= rules.length) return
    onMove(from, to)
    setTold(texts.moved(to + 1, rules.length))
    // The handle keeps the focus: its row has another place now.
    requestAnimationFrame(() => table.current?.querySelectorAll<HTMLElement>('[data-handle]')[to]?.focus())
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    if (dragged !== undefined && over !== undefined) move(dragged, over)
    setDragged(undefined)
    setOver(undefined)
  }
  return (
    <>
      <table ref={table} className={classes['rules']}>
        <thead>
          <tr>
            <th scope="col">
              <VisuallyHidden component="span">{texts.order}</VisuallyHidden>
            </th>
            <th scope="col">{texts.rule}</th>
            <th scope="col">{texts.lastHour}</th>
            <th scope="col">{texts.hits}</th>
            <th scope="col">{texts.state}</th>
            <th scope="col">
              <VisuallyHidden component="span">{texts.actions}</VisuallyHidden>
            </th>
          </tr>
        </thead>
        <tbody onDrop={drop} onDragOver={(event) => dragged !== undefined && event.preventDefault()}>
          {rules.map((rule, at) => (
            <Row
              key={rule.key}
              {...props}
              rule={rule}
              at={at}
              rate={rates.get(rule.key)}
              isDragged={dragged === at}
              over={
                over === at && dragged !== undefined && dragged !== at
                  ? dragged > at
                    ? 'before'
                    : 'after'
                  : undefined
              }
              canChange={canChange}
              onMove={move}
              onDrag={setDragged}
              onOver={setOver}
            />
          ))}
          <tr className={classes['rest']}>
            <td />
            <td colSpan={5} data-wide>
              {texts.rest}
            </td>
          </tr>
        </tbody>
      </table>
      <VisuallyHidden role="status">{told}</VisuallyHidden>
    </>
  )
}

type RowProps = RuleTableProps & {
  readonly rule: DraftRule
  readonly at: number
  readonly rate: number | undefined
  readonly isDragged: boolean
  readonly over: 'before' | 'after' | undefined
  readonly onDrag: (at: number | undefined) => void
  readonly onOver: (at: number) => void
}

function Row(props: RowProps) {
  const { rule, at, rules, plan, applied, warnings, canChange, isDragged, over, onMove, onDrag, onOver } =
    props
  const change = changeOf(plan, rule.key)
  const mine = warnings.filter(({ loc }) => placeOf(loc) === at)
  const press = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : 0
    if (step === 0) return
    event.preventDefault()
    event.stopPropagation()
    onMove(at, at + step)
  }
  return (
    <tr
      data-disabled={!rule.enabled || undefined}
      data-dragged={isDragged || undefined}
      data-over={over}
      onDragEnter={() => onOver(at)}
    >
      <td>
        {canChange ? (
          <UnstyledButton
            className={classes['handle']!}
            data-handle
            draggable
            aria-label={texts.move(at + 1, ruleText(rule))}
            onKeyDown={press}
            onDragStart={(event: DragEvent) => {
              event.dataTransfer.effectAllowed = 'move'
              event.dataTransfer.setData('text/plain', ruleText(rule))
              onDrag(at)
            }}
            onDragEnd={() => onDrag(undefined)}
          >
            <IconGripVertical size={16} aria-hidden />
          </UnstyledButton>
        ) : (
          <span className={classes['place']}>{at + 1}</span>
        )}
      </td>
      <td>
        <RuleText rule={rule} place={canChange ? at + 1 : undefined} change={change} warnings={mine} />
      </td>
      <td data-wide>
        <Decided {...props} />
      </td>
      <td data-wide>
        <Hits
          rule={applied.get(rule.key)}
          isCurrent={change === undefined || change === 'moved'}
          rate={props.rate}
        />
      </td>
      <td data-wide>
        <State
          rule={rule}
          rules={rules}
          applied={change === 'added' || change === 'changed' ? undefined : applied.get(rule.key)}
        />
      </td>
      <td data-menu>{canChange && <RowMenu {...props} count={rules.length} />}</td>
    </tr>
  )
}

type RuleTextProps = {
  readonly rule: DraftRule
  readonly place: number | undefined
  readonly change: ReturnType<typeof changeOf>
  readonly warnings: readonly ShieldWarning[]
}

const RuleText = ({ rule, place, change, warnings }: RuleTextProps) => (
  <div className={classes['rule']}>
    <span className={classes['place']}>{place}</span>
    <span className={classes['action']} data-action={rule.action}>
      {actionText(rule)}
    </span>
    <span className={classes['match']}>{matchText(rule)}</span>
    {change && <span className={classes['mark']}>{texts.changed[change]}</span>}
    {(rule.comment !== '' || rule.expires !== null) && (
      <span className={classes['note']}>
        <RuleComment text={rule.comment} />
        {rule.comment !== '' && rule.expires !== null && ' · '}
        {rule.expires !== null && (
          <>
            {Date.parse(rule.expires) > Date.now() ? texts.expires : texts.expired} <Time at={rule.expires} />
          </>
        )}
      </span>
    )}
    {warnings.map((warning) => (
      <span key={warning.code} className={classes['warning']}>
        {warningText(warning)}
      </span>
    ))}
  </div>
)

/** A dash for disabled rules; unknown without flow records. */
function Decided({ rule, at, whatIf }: RowProps) {
  if (!rule.enabled) return <span className={classes['small']}>–</span>
  if (!whatIf || whatIf.state !== 'complete')
    return <span className={classes['small']}>{whatIf ? texts.notEstimated : '…'}</span>
  const found = whatIf.rules.find(({ index }) => index === at)
  const [attack, normal] = [found?.attack.bytes ?? 0, found?.normal.bytes ?? 0]
  if (attack === 0 && normal === 0) return <span className={classes['small']}>{texts.nothingSeen}</span>
  return (
    <span className={classes['hits']}>
      <div data-attack={attack > 0 || undefined}>{texts.attack(formatRate(attack, 'B'))}</div>
      <div className={classes['small']}>{texts.normal(formatRate(normal, 'B'))}</div>
    </span>
  )
}

type HitsProps = {
  readonly rule: ShieldRule | undefined
  readonly isCurrent: boolean
  readonly rate: number | undefined
}

function Hits({ rule, isCurrent, rate }: HitsProps) {
  if (!rule || !isCurrent) return <span className={classes['small']}>{texts.hitsNew}</span>
  const { hits } = rule
  if (hits === null || hits === undefined)
    return <span className={classes['small']}>{texts.hitsUnknown}</span>
  if (hits.packets === 0) return <span className={classes['small']}>{texts.hitsNone}</span>
  return (
    <span className={classes['hits']}>
      {formatRate(hits.packets, 'packets')}
      <div className={classes['small']}>
        {rate !== undefined
          ? texts.perSecond(formatRate(rate, 'pps'))
          : hits.last_hit !== null && (
              <>
                {texts.lastHit} <Ago at={hits.last_hit} />
              </>
            )}
      </div>
    </span>
  )
}

/** The key of an applied rule is its id. */
function placeIn(rules: readonly DraftRule[], id: number): number | undefined {
  const at = rules.findIndex(({ key }) => key === String(id))
  return at < 0 ? undefined : at + 1
}

const ruleColors: Record<ShieldRule['status'], StateColor> = {
  pending: 'info',
  active: 'ok',
  rejected: 'bad',
  expired: 'idle',
}

type StateProps = Pick<RowProps, 'rule' | 'rules'> & { readonly applied: ShieldRule | undefined }

function State({ rule, rules, applied }: StateProps) {
  const { states } = words
  if (!rule.enabled) return <StatePill color="idle">{states.disabled}</StatePill>
  if (!applied) return <StatePill color="idle">{states.fresh}</StatePill>
  const { status, status_reason: reason } = applied
  return (
    <>
      <StatePill color={ruleColors[status]} moving={status === 'pending'}>
        {states.rule[status]}
      </StatePill>
      {reason && <div className={classes['small']}>{ruleReasonText(reason, (id) => placeIn(rules, id))}</div>}
    </>
  )
}

function RowMenu({
  rule,
  at,
  count,
  onMove,
  onEdit,
  onDuplicate,
  onToggle,
  onRemove,
}: RowProps & { readonly count: number }) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon aria-label={texts.menu(at + 1)}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => onEdit(at)}>{texts.edit}</Menu.Item>
        <Menu.Item onClick={() => onDuplicate(at)}>{texts.duplicate}</Menu.Item>
        <Menu.Item onClick={() => onToggle(at)}>{rule.enabled ? texts.disable : texts.enable}</Menu.Item>
        <Menu.Item disabled={at === 0} onClick={() => onMove(at, at - 1)}>
          {texts.up}
        </Menu.Item>
        <Menu.Item disabled={at === count - 1} onClick={() => onMove(at, at + 1)}>
          {texts.down}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item color="bad" onClick={() => onRemove(at)}>
          {texts.remove}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
