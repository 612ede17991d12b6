//! The program itself.

use crewagent_adapters::names::{self, NamedModel};
use crewagent_engine::doctor::{CheckHealth, checks};

use super::packages::MAX_UPLOAD;
use crate::assets;
use crate::endpoint::{ApiEndpoint, ParsedRequest, get};
use crate::problem::Problem;
use crate::wire::{Diagnosis, DoctorCheck, Health, Program};

pub(super) fn endpoints() -> Vec<ApiEndpoint> {
    vec![
        get("/api/app", "What program this is, and whether it is set up", app),
        get("/api/doctor", "Looks at everything a run depends on", doctor),
        get("/api/health", "How the server is", health),
    ]
}

fn app(asked: ParsedRequest) -> Result<Program, Problem> {
    let store = asked.app.store()?;
    let (model, model_problem) = match NamedModel::of(None, &store) {
        Ok(NamedModel::Scripted(file)) => (Some(format!("scripted:{file}")), None),
        Ok(NamedModel::Replay(run)) => (Some(format!("replay:{run}")), None),
        Ok(NamedModel::Chat(chosen)) => (Some(chosen.name.clone()), None),
        Err(error) => (None, Some(Problem::from(error).text())),
    };
    Ok(Program {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        platform: std::env::consts::OS.to_owned(),
        home: asked.app.home().display().to_string(),
        user_name: store.user_name(),
        model,
        model_problem,
        has_web: assets::is_built(),
        max_upload: MAX_UPLOAD,
    })
}

fn health(asked: ParsedRequest) -> Result<Health, Problem> {
    let seconds = asked.app.began.elapsed().as_secs();
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    Ok(Health {
        uptime_seconds: u32::try_from(seconds).unwrap_or(u32::MAX),
        at_work: count(asked.app.workers.working()),
        streams: count(asked.app.workers.board().listeners()),
    })
}

fn doctor(asked: ParsedRequest) -> Result<Diagnosis, Problem> {
    let checks = checks(Some(asked.app.home().to_owned()), names::check)?;
    Ok(Diagnosis {
        ok: checks.iter().all(|check| check.status != CheckHealth::Fail),
        checks: checks
            .into_iter()
            .map(|check| DoctorCheck {
                name: check.name.to_owned(),
                status: match check.status {
                    CheckHealth::Ok => "ok",
                    CheckHealth::Warn => "warn",
                    CheckHealth::Fail => "fail",
                }
                .to_owned(),
                message: check.message,
                advice: check.advice,
            })
            .collect(),
    })
}
