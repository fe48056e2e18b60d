// The layout of a flow diagram with d3-sankey. Pure.
import { sankey, sankeyLinkHorizontal } from 'd3-sankey'
import type { ChartColor } from './chart-props.ts'
import { formatShare, type Unit } from './units.ts'

export type Flow = {
  readonly from: string
  readonly to: string
  readonly value: number
  readonly href?: string
}

export type SankeyProps = {
  readonly label: string
  readonly flows: readonly Flow[]
  readonly unit: Unit
  /** The color of a node; if left out, the slots in their order. */
  readonly colorOf?: (id: string) => ChartColor
  readonly height?: number
}

type Size = { readonly width: number; readonly height: number }

export type FlowNode = {
  readonly id: string
  readonly column: number
  readonly value: number
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

export type FlowLink = Flow & {
  readonly path: string
  readonly thickness: number
  /** Share of the total that leaves the first column. */
  readonly share: string
  /** The place of the tooltip. */
  readonly x: number
  readonly y: number
}

export type FlowLayout = { readonly nodes: readonly FlowNode[]; readonly links: readonly FlowLink[] }

const nodeWidth = 8

/** Returns the nodes and links in an area of that size. A link that would close a circle is left out. */
export function layoutFlows(flows: readonly Flow[], { width, height }: Size): FlowLayout {
  const drawn = withoutCircles(flows.filter(({ value }) => value > 0))
  if (drawn.length === 0 || width <= nodeWidth) return { nodes: [], links: [] }
  const ids = [...new Set(drawn.flatMap(({ from, to }) => [from, to]))]
  const layout = sankey<{ readonly id: string }, { readonly flow: Flow }>()
    .nodeId(({ id }) => id)
    .nodeWidth(nodeWidth)
    .nodePadding(Math.min(14, (height / ids.length) * 0.6))
    .extent([
      [0, 1],
      [width, height - 1],
    ])
  const { nodes, links } = layout({
    nodes: ids.map((id) => ({ id })),
    links: drawn.map((flow) => ({ source: flow.from, target: flow.to, value: flow.value, flow })),
  })
  const targets = new Set(drawn.map(({ to }) => to))
  const total = drawn.reduce((sum, { from, value }) => sum + (targets.has(from) ? 0 : value), 0)
  const pathOf = sankeyLinkHorizontal<{ readonly id: string }, { readonly flow: Flow }>()
  return {
    nodes: nodes.map(({ id, depth = 0, value = 0, x0 = 0, x1 = 0, y0 = 0, y1 = 0 }) => ({
      id,
      column: depth,
      value,
      left: x0,
      top: y0,
      width: x1 - x0,
      height: Math.max(1, y1 - y0),
    })),
    links: links.map((link) => {
      const { flow, width: thickness = 1, y0 = 0, y1 = 0, source, target } = link
      const [from, to] = [source, target] as { x0?: number; x1?: number }[]
      return {
        ...flow,
        path: pathOf(link) ?? '',
        thickness: Math.max(1, thickness),
        share: formatShare(flow.value, total),
        x: ((from?.x1 ?? 0) + (to?.x0 ?? 0)) / 2,
        y: (y0 + y1) / 2,
      }
    }),
  }
}

function withoutCircles(flows: readonly Flow[]): Flow[] {
  const next = new Map<string, string[]>()
  const leads = (from: string, to: string): boolean =>
    from === to || (next.get(from) ?? []).some((middle) => leads(middle, to))
  return flows.filter(({ from, to }) => {
    if (leads(to, from)) return false
    next.set(from, [...(next.get(from) ?? []), to])
    return true
  })
}
