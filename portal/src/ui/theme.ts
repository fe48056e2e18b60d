// The one theme: dense, calm, the same in light and dark; colours that stay apart for those who see few of them.
import { createTheme, Table, TextInput, Button, Badge, Tooltip, ActionIcon, Card } from '@mantine/core'

export const theme = createTheme({
  primaryColor: 'indigo',
  primaryShade: { light: 7, dark: 5 },
  defaultRadius: 'sm',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace',
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.125rem' },
  headings: {
    fontWeight: '600',
    sizes: { h1: { fontSize: '1.25rem' }, h2: { fontSize: '1rem' }, h3: { fontSize: '0.875rem' } },
  },
  components: {
    Table: Table.extend({
      defaultProps: { verticalSpacing: 6, horizontalSpacing: 'sm', fz: 'sm', highlightOnHover: true },
    }),
    TextInput: TextInput.extend({ defaultProps: { size: 'sm' } }),
    Button: Button.extend({ defaultProps: { size: 'xs' } }),
    Badge: Badge.extend({
      defaultProps: { radius: 'sm', variant: 'light', tt: 'none', fw: 500, miw: 'fit-content' },
    }),
    Card: Card.extend({ defaultProps: { withBorder: true, padding: 'md' } }),
    Tooltip: Tooltip.extend({ defaultProps: { withArrow: true, openDelay: 300 } }),
    ActionIcon: ActionIcon.extend({ defaultProps: { variant: 'subtle', color: 'gray' } }),
  },
})

/** The nonce of the page's policy, which the server writes into the page: styles that Mantine adds carry it. */
export function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''
}
