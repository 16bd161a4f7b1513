"""Reads what write-deliveries.ts wrote with the programs it is meant for: sqlglot parses the load scripts, the client library of
Prometheus its metrics, openlineage-python makes its own classes of the events."""

import json
import sys
from importlib.metadata import version
from pathlib import Path

import attr
import sqlglot
from noting import note
from openlineage.client.generated import base, column_lineage_dataset, data_quality_assertions_dataset
from openlineage.client.generated import error_message_run, output_statistics_output_dataset, schema_dataset
from prometheus_client.parser import text_string_to_metric_families

FACETS = {
    "schema": schema_dataset.SchemaDatasetFacet,
    "columnLineage": column_lineage_dataset.ColumnLineageDatasetFacet,
    "dataQualityAssertions": data_quality_assertions_dataset.DataQualityAssertionsDatasetFacet,
    "outputStatistics": output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet,
    "errorMessage": error_message_run.ErrorMessageRunFacet,
}


def read_scripts(folder: Path) -> int:
    """Each statement is one that the dialect's parser knows, or of the few that sqlglot takes as they are."""
    statements = 0
    for file in sorted(folder.glob("*.sql")):
        dialect = file.stem.split("-")[0]
        for tree in sqlglot.parse(file.read_text(), dialect=dialect, error_level=sqlglot.ErrorLevel.RAISE):
            if isinstance(tree, sqlglot.exp.Command):
                # LOAD DATA and COPY INTO have options that sqlglot does not model.
                assert tree.name.upper() in ("LOAD", "COPY", "COMMIT", "BEGIN"), (file.name, tree.sql()[:80])
            statements += 1
        assert statements > 0, file
    return statements


def read_catalogs(folder: Path) -> int:
    """Each statement is one that the parser models, and names all tables."""
    tables = 0
    for name, dialect in {"unity": "databricks", "glue": "athena", "hive": "hive"}.items():
        trees = sqlglot.parse((folder / f"{name}.sql").read_text(), dialect=dialect, error_level=sqlglot.ErrorLevel.RAISE)
        for tree in trees:
            assert isinstance(tree, sqlglot.exp.Create), (name, tree.sql()[:80])
            assert tree.find(sqlglot.exp.LocationProperty) is not None, (name, tree.sql()[:80])
        tables += len(trees)
    return tables


def read_metrics(folder: Path) -> int:
    families = {family.name: family for family in text_string_to_metric_families((folder / "prices.prom").read_text())}
    value = lambda name: families[name].samples[0].value  # noqa: E731
    assert value("pricelake_run_success") == 1 and value("pricelake_items") > 100
    assert {sample.labels["fate"] for sample in families["pricelake_run_rows"].samples} == {
        "received", "written", "rejected", "deduplicated",
    }
    assert value("pricelake_lag_seconds") >= 0 and value("pricelake_last_success_timestamp_seconds") > 1.7e9
    assert {s.labels["kind"] for s in families["pricelake_left"].samples} == {"calls", "export_rows"}
    failed = {family.name: family for family in text_string_to_metric_families((folder / "failed.prom").read_text())}
    assert failed["pricelake_run_exit_code"].samples[0].value == 75
    return len(families)


def make(kind, value):
    """A class of the specification's generator, of JSON: an unknown or missing member is an error."""
    members = {field.name.lstrip("_"): value[name] for field in attr.fields(kind) if (name := field.name) in value}
    unknown = set(value) - {field.name for field in attr.fields(kind)} - {"_producer", "_schemaURL"}
    assert not unknown, (kind, unknown)
    members.pop("producer", None) if "_producer" in value else None
    members.pop("schemaURL", None) if "_schemaURL" in value else None
    return kind(**members)


def check_facets(facets: dict) -> int:
    for name, value in facets.items():
        kind = FACETS[name]
        made = make(kind, value)
        assert value["_schemaURL"] == made._get_schema(), (value["_schemaURL"], made._get_schema())
        if name == "schema":
            [make(schema_dataset.SchemaDatasetFacetFields, field) for field in value["fields"]]
        if name == "columnLineage":
            for field in value["fields"].values():
                make(column_lineage_dataset.Fields, field)
                [make(column_lineage_dataset.InputField, one) for one in field["inputFields"]]
        if name == "dataQualityAssertions":
            [make(data_quality_assertions_dataset.Assertion, one) for one in value["assertions"]]
    return len(facets)


def read_lineage(folder: Path) -> int:
    events = [json.loads(line) for line in (folder / "events.ndjson").read_text().splitlines()]
    kinds = [event["eventType"] for event in events]
    assert kinds == ["START", "COMPLETE"] * 3 + ["START", "FAIL"], kinds
    facets = 0
    for event in events:
        make(base.Run, event["run"])
        make(base.Job, event["job"])
        assert event["schemaURL"].startswith("https://openlineage.io/spec/2-0-2/OpenLineage.json")
        base.EventType(event["eventType"])
        facets += check_facets(event["run"]["facets"])
        for dataset in event["inputs"]:
            make(base.InputDataset, dataset)
            facets += check_facets(dataset.get("inputFacets", {}))
        for dataset in event["outputs"]:
            make(base.OutputDataset, dataset)
            facets += check_facets(dataset["facets"]) + check_facets(dataset["outputFacets"])
    return facets


folder = Path(sys.argv[1])
scripts = ", ".join(sorted({file.stem.split("-")[0] for file in folder.glob("*.sql")}))
note("sqlglot", version("sqlglot"), f"load scripts for {scripts}", f"{read_scripts(folder)} statements parsed, none run")
note("sqlglot", version("sqlglot"), "catalog statements for unity, glue, hive", f"{read_catalogs(folder / 'catalogs')} statements parsed, none run")
note("prometheus_client", version("prometheus_client"), "metrics of runs", f"{read_metrics(folder)} metrics read")
note("openlineage-python", version("openlineage-python"), "events of runs", f"{read_lineage(folder)} facets valid")
