// Regions on a map of the world: a dot and a label each, which is also the list for screen readers and the keyboard.
import { useElementSize } from '@mantine/hooks'
import { RowLink } from '../ui/row-link.tsx'
import type { State } from './chart-props.ts'
import classes from './charts.module.css'
import { placeLabels } from './labels.ts'
import { landPath } from './land.ts'
import { mapSize, project } from './projection.ts'

export type MapRegion = {
  /** Short, such as `AMS`. */
  readonly code: string
  readonly name: string
  readonly latitude: number
  readonly longitude: number
  readonly state: State
  /** The state in words. */
  readonly stateText: string
  /** Such as `3 prefixes`. */
  readonly countText?: string
  readonly href?: string
}

type MapProps = { readonly label: string; readonly regions: readonly MapRegion[] }

const pointRadius = 6
const labelHeight = 18
/** Widths of the label's two faces, measured at 12 and 11 px. */
const codeWidth = 8.6
const countWidth = 6.2
/** On a narrower map labels are codes only. */
const countWidthMin = 420

/** Draws regions by place and state. On a narrow map the counts are left to the names of the links. */
export function RegionMap({ label, regions }: MapProps) {
  const { ref, width } = useElementSize<HTMLDivElement>()
  const scale = width / mapSize.width
  const height = mapSize.height * scale
  const hasCounts = width >= countWidthMin
  const points = regions.map(({ longitude, latitude, code, countText }) => {
    const [x, y] = project(longitude, latitude)
    const count = hasCounts && countText !== undefined ? countText.length * countWidth + 5 : 0
    return { x: x * scale, y: y * scale, width: code.length * codeWidth + count + 4, height: labelHeight }
  })
  const places = width > 0 ? placeLabels(points, { width, height }, pointRadius) : []
  return (
    <div ref={ref} className={classes['map']} style={{ aspectRatio: `${mapSize.width} / ${mapSize.height}` }}>
      <svg viewBox={`0 0 ${mapSize.width} ${mapSize.height}`} className={classes['land']} aria-hidden>
        <path d={landPath} />
        {places.map((place, at) => {
          const { x, y } = points[at]!
          if (!place?.isFar) return undefined
          const endX = place.side === 'left' ? place.left : place.left + place.width
          return (
            <line
              key={regions[at]!.code}
              x1={x / scale}
              y1={y / scale}
              x2={endX / scale}
              y2={(place.top + labelHeight / 2) / scale}
              vectorEffect="non-scaling-stroke"
            />
          )
        })}
      </svg>
      <ul aria-label={label}>
        {regions.map(({ code, name, state, stateText, countText, href }, at) => {
          const place = places[at]
          const { x, y } = points[at]!
          const text = (
            <>
              <span
                className={classes['mapDot']}
                style={{ left: x, top: y, background: `var(--${state}-dot)`, color: `var(--${state}-dot)` }}
                data-state={state}
              />
              <span
                className={place ? classes['mapLabel'] : classes['hidden']}
                style={place ? { left: place.left, top: place.top, width: place.width } : {}}
                data-side={place?.side}
              >
                <b>{code}</b>
                <span className={classes['hidden']}>
                  , {name}, {stateText}
                  {countText !== undefined && !hasCounts && `, ${countText}`}
                </span>
                {countText !== undefined && hasCounts && (
                  <span className={classes['mapCount']}> {countText}</span>
                )}
              </span>
            </>
          )
          return (
            <li key={code} title={`${name}: ${stateText}${countText === undefined ? '' : `, ${countText}`}`}>
              {href === undefined ? text : <RowLink to={href}>{text}</RowLink>}
            </li>
          )
        })}
      </ul>
    </div>
  )
}
