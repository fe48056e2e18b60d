// Places labels beside points and along the top of a chart without overlaps. Pure.

export type Box = {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

export type PointLabel = {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export type PlacedLabel = Box & {
  /** The side of the label that is next to the point. */
  readonly side: 'left' | 'right'
  /** Whether a line to the point is needed. */
  readonly isFar: boolean
}

const overlaps = (a: Box, b: Box): boolean =>
  a.left < b.left + b.width &&
  b.left < a.left + a.width &&
  a.top < b.top + b.height &&
  b.top < a.top + a.height

/** Directions in which a label may be, the best first: right, left, then diagonally. */
const directions = [
  [1, 0],
  [-1, 0],
  [1, -0.9],
  [-1, -0.9],
  [1, 0.9],
  [-1, 0.9],
] as const
const distances = [0, 14, 28, 44]

/**
 * Returns the place of each label in an area of that size, undefined if it fits nowhere. Labels cover neither each other nor a
 * point; the first ones choose first.
 */
export function placeLabels(
  labels: readonly PointLabel[],
  area: { readonly width: number; readonly height: number },
  pointRadius: number,
): (PlacedLabel | undefined)[] {
  const taken: Box[] = labels.map(({ x, y }) => ({
    left: x - pointRadius,
    top: y - pointRadius,
    width: 2 * pointRadius,
    height: 2 * pointRadius,
  }))
  return labels.map((label) => {
    const found = candidates(label, pointRadius).find(
      (box) =>
        box.left >= 0 &&
        box.top >= 0 &&
        box.left + box.width <= area.width &&
        box.top + box.height <= area.height &&
        !taken.some((other) => overlaps(box, other)),
    )
    if (found) taken.push(found)
    return found
  })
}

function candidates({ x, y, width, height }: PointLabel, pointRadius: number): PlacedLabel[] {
  return distances.flatMap((distance) =>
    directions.map(([horizontal, vertical]): PlacedLabel => {
      // Diagonally, the label is beside the point's corner.
      const gap = vertical === 0 ? pointRadius + 2 + distance : 2 + distance / 2
      const left = horizontal > 0 ? x + gap : x - gap - width
      const rise = vertical === 0 ? 0 : Math.sign(vertical) * (pointRadius + height / 2 + distance)
      return {
        left,
        top: y - height / 2 + rise,
        width,
        height,
        side: horizontal > 0 ? 'left' : 'right',
        isFar: distance > 0,
      }
    }),
  )
}

export type MarkLabel = { readonly x: number; readonly width: number }
export type PlacedMark = { readonly left: number; readonly row: number }

/**
 * Returns the place of each label at the top of a chart, in rows from the top down: right of its line, or left of it at the
 * right end. Undefined if there is no room in so many rows.
 */
export function placeMarkLabels(
  labels: readonly MarkLabel[],
  right: number,
  gap: number,
  rowsMax: number,
): (PlacedMark | undefined)[] {
  const rows: { left: number; right: number }[][] = []
  return labels.map(({ x, width }) => {
    const left = x + gap + width > right ? x - gap - width : x + gap
    const isFree = (row: number) =>
      (rows[row] ?? []).every((other) => left >= other.right + gap || left + width + gap <= other.left)
    for (let row = 0; row < rowsMax; row++) {
      if (!isFree(row)) continue
      ;(rows[row] ??= []).push({ left, right: left + width })
      return { left, row }
    }
    return undefined
  })
}
