// The tooltip itself, loaded with the first one that opens.
import { Tooltip } from '@mantine/core'

export const LazyTooltipContent = ({ target, label }: { target: HTMLElement; label: string }) => (
  <Tooltip opened target={target} label={label} />
)
