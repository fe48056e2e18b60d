-- What is true of the installation as a whole: which releases may still run on the schema, which keys are known to be lost, and the
-- identity of its database.

create table installation (
  key text primary key default 'installation' check (key = 'installation'),
  uuid uuid,
  system_identifier text,
  database_oid bigint,
  timeline integer,
  schema_floor text,
  lost_keys text[] not null default '{}'
);
comment on table installation is 'one row';
comment on column installation.system_identifier is 'of the cluster, from pg_control_system(): an unsigned number of 64 bits';
comment on column installation.schema_floor is 'the oldest release that may run, such as 0.3.0: raised by pharos migrate --finish; null: any release before the first one that had phases';
comment on column installation.lost_keys is 'ids of keys of sealed values, in hexadecimal, whose loss the operator has accepted';

insert into installation default values;
