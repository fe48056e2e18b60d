// The ports of a device as squares, grouped by speed. A sign in each square repeats the state without its color.
import { useRouter } from '@tanstack/react-router'
import { useState, type MouseEvent } from 'react'
import classes from './charts.module.css'
import type { State } from './chart-props.ts'
import { useRoving } from './use-roving.ts'
import { words } from './words.ts'

export type PortState = State | 'unknown'

export type GridPort = {
  readonly id: string
  readonly label: string
  readonly state: PortState
  /** Replaces the general word of the state, such as `administratively down`. */
  readonly stateText?: string
  readonly description?: string
  /** Share of the speed that is used, 0 to 1. Absent: not known. */
  readonly load?: number
  /** Such as the light levels. */
  readonly detail?: string
  readonly href?: string
}

export type PortGroup = { readonly speed: string; readonly ports: readonly GridPort[] }

type GridProps = { readonly label: string; readonly groups: readonly PortGroup[] }

const signs: Record<PortState, string> = { ok: '●', warn: '▲', bad: '✕', info: '↻', idle: '–', unknown: '?' }
const states = ['ok', 'warn', 'bad', 'info', 'idle', 'unknown'] as const

/** Draws two rows of squares for each speed, in the order of the front of a device: down, then right. */
export function PortGrid({ label, groups }: GridProps) {
  const ports = groups.flatMap((group) => group.ports)
  const { groupProps, targetProps } = useRoving(ports.length)
  const router = useRouter()
  const [active, setActive] = useState<string>()
  let next = 0
  const follow = (event: MouseEvent, href: string | undefined) => {
    if (href === undefined || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return
    event.preventDefault()
    void router.navigate({ href })
  }
  return (
    <div className={classes['ports']} {...groupProps} role="group" aria-label={label}>
      <div className={classes['portGroups']}>
        {groups.map((group) => (
          <section key={group.speed} aria-label={`${group.speed}, ${words.ports(group.ports.length)}`}>
            <h3>
              {group.speed} <span>{words.ports(group.ports.length)}</span>
            </h3>
            <ul className={classes['portRows']}>
              {group.ports.map((port) => {
                const { id, state, href, load } = port
                const { onFocus, ...target } = targetProps(next++)
                return (
                  <li key={id}>
                    <a
                      {...target}
                      {...(href === undefined ? { role: 'img' } : { href })}
                      className={classes['port']}
                      data-state={state}
                      aria-label={portText(port)}
                      onClick={(event) => follow(event, href)}
                      onFocus={() => {
                        onFocus()
                        setActive(id)
                      }}
                      onBlur={() => setActive(undefined)}
                      onPointerEnter={() => setActive(id)}
                      onPointerLeave={() => setActive(undefined)}
                    >
                      {load !== undefined && (
                        <span className={classes['portLoad']} style={{ height: `${100 * load}%` }} />
                      )}
                      <span aria-hidden>{signs[state]}</span>
                    </a>
                    {active === id && <PortTooltip port={port} />}
                  </li>
                )
              })}
            </ul>
          </section>
        ))}
      </div>
      <Legend ports={ports} />
    </div>
  )
}

const Legend = ({ ports }: { readonly ports: readonly GridPort[] }) => (
  <ul className={classes['legend']}>
    {states
      .map((state) => ({ state, count: ports.filter((port) => port.state === state).length }))
      .filter(({ count }) => count > 0)
      .map(({ state, count }) => (
        <li key={state}>
          <span className={classes['entry']}>
            <span className={classes['portSign']} data-state={state} aria-hidden>
              {signs[state]}
            </span>
            {count} {words.portState[state]}
          </span>
        </li>
      ))}
  </ul>
)

const portText = ({ label, state, stateText, description, detail }: GridPort): string =>
  [label, stateText ?? words.portState[state], description, detail].filter(Boolean).join(', ')

const PortTooltip = ({ port }: { readonly port: GridPort }) => (
  <div className={`${classes['tooltip']} ${classes['portTooltip']}`} aria-hidden>
    <div className={classes['tooltipStrong']}>
      {port.label} · {port.stateText ?? words.portState[port.state]}
    </div>
    {port.description && <div className={classes['tooltipText']}>{port.description}</div>}
    {port.detail && <div className={classes['tooltipTime']}>{port.detail}</div>}
  </div>
)
