-- The provider as people see it: name, accent color, logo and address for support, from the platform file.

create table provider (
  key text primary key check (key = 'provider'),
  name text not null,
  accent text check (accent ~ '^#[0-9a-f]{6}$'),
  support text,
  logo text
);
comment on table provider is 'at most one row';
comment on column provider.accent is '#rrggbb; null: that of the portal';
comment on column provider.support is 'mailto: or https: link';
comment on column provider.logo is 'SVG';
