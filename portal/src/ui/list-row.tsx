// One row of a list: the cells of its columns, a card on a phone, or plain bars while it is loading.
import { memo, type ReactNode } from 'react'
import type { Column } from './list-column.ts'
import { cellClass } from './list-head.tsx'
import classes from './list.module.css'
import { words } from './words.ts'

type OneRowProps = {
  readonly index: number
  readonly row: object
  readonly columns: readonly Column<object>[]
  readonly asOf: number
  readonly isCard: boolean
  readonly hasFiller: boolean
  /** Undefined if rows cannot be selected. */
  readonly isSelected: boolean | undefined
  readonly isShown: boolean
  /** The first cell opens the side panel. */
  readonly isOpener: boolean
}

/** Rendered once for each row that comes into view, not for each pixel scrolled. */
export const OneRow = memo(function OneRow(props: OneRowProps) {
  const { index, row, columns, isCard, hasFiller, isSelected, isShown, isOpener } = props
  const attributes = {
    className: classes['row'],
    'aria-rowindex': index + 2,
    tabIndex: -1,
    'data-selected': isSelected || undefined,
    'data-shown': isShown || undefined,
  }
  const box = isSelected !== undefined && (
    <input
      type="checkbox"
      data-select="true"
      className={classes['box']}
      aria-label={words.selection.row}
      checked={isSelected}
      // The click is handled for the whole list, which knows whether Shift is pressed.
      onChange={() => {}}
    />
  )
  if (isCard)
    return (
      <tr {...attributes}>
        <td className={classes['cardCell']}>
          <Card row={row} columns={columns} box={box} isOpener={isOpener} />
        </td>
      </tr>
    )
  const firstEnd = columns.findIndex(({ pinned }, at) => pinned && at > 0)
  const filler = hasFiller && <td key="filler" className={classes['filler']} />
  return (
    <tr {...attributes}>
      {isSelected !== undefined && <td className={classes['select']}>{box}</td>}
      {columns.map(({ id, cell, align, pinned }, at) => [
        at === firstEnd && filler,
        <td key={id} className={cellClass(align, pinned, at === 0)}>
          {at === 0 ? <Opener isOpener={isOpener}>{cell(row)}</Opener> : cell(row)}
        </td>,
      ])}
      {firstEnd < 0 && filler}
    </tr>
  )
})

/** Opens the side panel of a row that has no page of its own. */
const Opener = ({ isOpener, children }: { isOpener: boolean; children: ReactNode }) =>
  isOpener ? (
    <button type="button" data-opener tabIndex={-1} className={classes['opener']}>
      {children}
    </button>
  ) : (
    children
  )

type CardProps = {
  readonly row: object
  readonly columns: readonly Column<object>[]
  readonly box: ReactNode
  readonly isOpener: boolean
}

/** Without declared slots the card has the first two columns. */
function Card({ row, columns, box, isOpener }: CardProps) {
  const inSlot = (slot: Column<object>['card']) => columns.filter(({ card }) => card === slot)
  const primary = inSlot('primary')[0] ?? columns[0]
  const declared = inSlot('secondary')
  const secondary =
    declared.length > 0 ? declared : columns.filter((one) => one !== primary && !one.pinned).slice(0, 1)
  return (
    <div className={classes['card']}>
      {box}
      <div className={classes['cardText']}>
        <div className={classes['cardPrimary']}>
          <Opener isOpener={isOpener}>{primary?.cell(row)}</Opener>
        </div>
        <div className={classes['cardSecondary']}>
          {secondary.map(({ id, cell }) => (
            <span key={id}>{cell(row)}</span>
          ))}
        </div>
      </div>
      {inSlot('state').map(({ id, cell }) => (
        <span key={id} className={classes['cardState']}>
          {cell(row)}
        </span>
      ))}
      {columns
        .filter(({ pinned }) => pinned)
        .map(({ id, cell }) => (
          <span key={id}>{cell(row)}</span>
        ))}
    </div>
  )
}

/** Plain elements: only these are visible while a list scrolls to its end quickly. */
export const LoadingRow = memo(({ cells, isCard }: { cells: number; isCard: boolean }) => (
  <tr className={classes['row']} aria-busy>
    {Array.from({ length: isCard ? 1 : cells }, (_, at) => (
      <td key={at} className={isCard ? classes['cardCell'] : undefined}>
        <div className={classes['loading']} />
        {isCard && <div className={classes['loading']} />}
      </td>
    ))}
  </tr>
))
