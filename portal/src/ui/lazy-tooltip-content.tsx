// The tooltip itself, loaded when the first tooltip opens.
import { Tooltip } from '@mantine/core'

export const LazyTooltipContent = ({ target, label }: { target: HTMLElement; label: string }) => (
  <Tooltip opened target={target} label={label} />
)
