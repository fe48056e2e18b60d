// Draws a flow diagram as SVG. Only sankey.tsx loads it, with the first diagram.
import { useElementSize } from '@mantine/hooks'
import { useRouter } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import type { ChartColor } from './chart-props.ts'
import classes from './charts.module.css'
import { colorVariable } from './inks.ts'
import { layoutFlows, type FlowLink, type FlowNode, type SankeyProps } from './sankey-layout.ts'
import { formatValue } from './units.ts'
import { useRoving } from './use-roving.ts'
import { words } from './words.ts'

type DrawingProps = SankeyProps & { readonly height: number }

export default function SankeyDrawing({ label, flows, unit, colorOf, height }: DrawingProps) {
  const { ref, width } = useElementSize<HTMLDivElement>()
  const router = useRouter()
  const { nodes, links } = useMemo(() => layoutFlows(flows, { width, height }), [flows, width, height])
  const [active, setActive] = useState<number>()
  const { groupProps, targetProps } = useRoving(links.length)
  const slots = new Map(nodes.map(({ id }, at) => [id, ((at % 7) + 1) as ChartColor]))
  const inkOf = (id: string) => colorVariable(colorOf?.(id) ?? slots.get(id) ?? 8)
  const textOf = ({ from, to, value, share }: FlowLink) =>
    words.flow(from, to, formatValue(value, unit), share)
  const follow = ({ href }: FlowLink) => href !== undefined && void router.navigate({ href })
  const shown = active === undefined ? undefined : links[active]
  return (
    <div ref={ref} className={classes['stage']} style={{ height }}>
      <svg
        {...groupProps}
        width={width}
        height={height}
        className={classes['sankey']}
        role="group"
        aria-roledescription={words.sankeyRole}
        aria-label={label}
        data-active={shown ? true : undefined}
      >
        {links.map((link, at) => (
          <path
            key={`${link.from} ${link.to}`}
            {...targetProps(at)}
            d={link.path}
            strokeWidth={link.thickness}
            stroke={inkOf(link.from)}
            className={classes['flow']}
            role={link.href === undefined ? 'img' : 'link'}
            aria-label={textOf(link)}
            data-active={at === active || undefined}
            data-opens={link.href !== undefined || undefined}
            onFocus={() => {
              targetProps(at).onFocus()
              setActive(at)
            }}
            onBlur={() => setActive(undefined)}
            onPointerEnter={() => setActive(at)}
            onPointerLeave={() => setActive(undefined)}
            onClick={() => follow(link)}
            onKeyDown={(event) => event.key === 'Enter' && follow(link)}
          />
        ))}
        {nodes.map((node) => (
          <Node key={node.id} node={node} isRight={node.left > width / 2 + node.width} ink={inkOf(node.id)} />
        ))}
      </svg>
      {shown && (
        <FlowTooltip shown={shown} isLeft={shown.x > width / 2} value={formatValue(shown.value, unit)} />
      )}
    </div>
  )
}

type NodeProps = { readonly node: FlowNode; readonly isRight: boolean; readonly ink: string }

const Node = ({ node: { id, left, top, width, height }, isRight, ink }: NodeProps) => (
  <g aria-hidden className={classes['node']}>
    <rect x={left} y={top} width={width} height={height} rx={2} fill={ink} />
    <text
      x={isRight ? left - 6 : left + width + 6}
      y={top + height / 2}
      dy="0.35em"
      textAnchor={isRight ? 'end' : 'start'}
    >
      {id}
    </text>
  </g>
)

type FlowTooltipProps = { readonly shown: FlowLink; readonly isLeft: boolean; readonly value: string }

const FlowTooltip = ({ shown, isLeft, value }: FlowTooltipProps) => (
  <div
    aria-hidden
    className={classes['tooltip']}
    data-side={isLeft ? 'left' : 'right'}
    style={{ left: shown.x, top: shown.y }}
  >
    <div className={classes['tooltipTime']}>
      {shown.from} → {shown.to}
    </div>
    <div className={classes['tooltipStrong']}>
      {value} · {shown.share}
    </div>
  </div>
)
