//! Pictures of the real program: sessions of the built-in profiles run for a while, and the screen that they lead
//! to is written as SVG in several sizes and looks.
//!
//! `cargo run --release --example pictures` writes the pictures of the README anew; `--all` writes every
//! combination below `target/`. Times are those of real sockets, so no two runs give the same files.

use clap::Parser;
use fanscope::app::{Action, App, Colour, Message, Options, update};
use fanscope::domain::{Event, Mode, Outcome, Round, RoundNo};
use fanscope::picture::{Caption, Palette, svg};
use fanscope::profile::Overrides;
use fanscope::session::{Choice, Plan, Session, choose};
use fanscope::{tui, view};
use futures_util::{StreamExt, stream};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use std::collections::BTreeSet;
use std::error::Error;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// What is written without `--all`: the pictures that the repository holds.
const CHOSEN: [&str; 20] = [
    "shops-deadline-120x40-dark",
    "shops-deadline-120x40-light",
    "shops-deadline-80x24-dark",
    "shops-deadline-200x60-dark",
    "shops-deadline-80x24-ascii",
    "shops-running-120x40-dark",
    "shops-tradeoff-120x40-dark",
    "shops-tradeoff-120x40-light",
    "shops-quorum-120x40-dark",
    "shops-wait-all-120x40-dark",
    "page-deadline-120x40-dark",
    "page-deadline-120x40-light",
    "replicas-hedge-120x40-dark",
    "replicas-hedge-120x40-light",
    "shops-deadline-lanes-dark",
    "shops-deadline-lanes-light",
    "shops-quorum-lanes-dark",
    "shops-quorum-lanes-light",
    "replicas-hedge-lanes-dark",
    "replicas-hedge-lanes-light",
];

const PROFILES: [&str; 3] = ["shops", "page", "replicas"];

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

/// The sizes of shops in deadline mode beyond those.
const SMALL: [(u16, u16); 2] = [(40, 10), (60, 16)];

/// The screen of which a picture of lanes alone is a part.
const LANES: (u16, u16) = (96, 24);

/// The titles of which one stands below the lanes.
const BELOW: [&str; 2] = ["Missing by reason", "Hedges"];

/// Rows above them: what runs, and how well.
const ABOVE: u16 = 2;

/// Sessions that run at once: their upstreams and engines share the machine with what they measure.
const AT_ONCE: usize = 5;

/// How far into its round the picture of a running one is taken; the budget is 200 ms.
const MIDWAY: Duration = Duration::from_millis(130);

/// How long a moment worth a picture is waited for once there is enough history; then any settled round will do.
const CHOOSY: Duration = Duration::from_secs(15);

/// How long any settled round is waited for after that.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long an engine may take to end.
const GOODBYE: Duration = Duration::from_secs(1);

const SEED: u64 = 7;

/// Share of the trade-off's rounds that are watched past their deadline.
const PROBE: f64 = 0.2;

#[derive(Debug, Parser)]
#[command(about = "Writes pictures of the screen as SVG")]
struct Args {
    /// Only pictures with one of these in their names, such as quorum or 80x24
    filter: Vec<String>,
    /// Where to [default: assets/pictures, with --all target/pictures]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Every profile in every mode, size and look, instead of those that the repository holds
    #[arg(long)]
    all: bool,
    /// How long each session runs before its picture; the missing table's window is 60 s
    #[arg(long, value_name = "N", default_value_t = 60)]
    seconds: u64,
}

impl Args {
    fn out(&self) -> PathBuf {
        let usual = if self.all { "target/pictures" } else { "assets/pictures" };
        self.out.clone().unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join(usual))
    }

    fn wants(&self, name: &str) -> bool {
        let chosen = self.all || CHOSEN.contains(&name);
        chosen && (self.filter.is_empty() || self.filter.iter().any(|part| name.contains(part.as_str())))
    }
}

/// What a picture's colours and glyphs are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    Dark,
    Light,
    Ascii,
}

impl Look {
    const ALL: [Self; 3] = [Self::Dark, Self::Light, Self::Ascii];

    const fn name(self) -> &'static str {
        match self {
            Self::Dark => "dark",
            Self::Light => "light",
            Self::Ascii => "ascii",
        }
    }

    const fn palette(self) -> Palette {
        match self {
            Self::Dark | Self::Ascii => Palette::DARK,
            Self::Light => Palette::LIGHT,
        }
    }
}

/// Which moment of a session a picture shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    Running,
    Settled,
    /// The trade-off over all rounds until then, of which some were watched past their deadline.
    Tradeoff,
}

/// A session and the moment of its pictures.
#[derive(Debug, Clone, Copy)]
struct Scene {
    profile: &'static str,
    mode: Mode,
    moment: Moment,
}

impl Scene {
    fn all() -> Vec<Self> {
        let of = |profile| Mode::ALL.iter().map(move |&mode| Self { profile, mode, moment: Moment::Settled });
        let further = |moment| Self { profile: "shops", mode: Mode::Deadline, moment };
        PROFILES.into_iter().flat_map(of).chain([Moment::Running, Moment::Tradeoff].map(further)).collect()
    }

    fn name(self) -> String {
        let what = match self.moment {
            Moment::Running => "running",
            Moment::Settled => self.mode.as_str(),
            Moment::Tradeoff => "tradeoff",
        };
        format!("{}-{what}", self.profile)
    }

    fn sizes(self) -> impl Iterator<Item = (u16, u16)> {
        let small = self.profile == "shops" && self.mode == Mode::Deadline && self.moment == Moment::Settled;
        SIZES.into_iter().chain(SMALL.into_iter().filter(move |_| small))
    }

    /// The pictures that are wanted of it.
    fn pictures(self, args: &Args) -> Vec<Picture> {
        let whole = self.sizes().map(|size| (size, false));
        let lanes = (self.moment != Moment::Tradeoff).then_some((LANES, true));
        let all = whole.chain(lanes).flat_map(|of| Look::ALL.map(|look| (of, look)));
        let named = all.map(|((size, lanes), look)| {
            let what = if lanes { "lanes".to_owned() } else { format!("{}x{}", size.0, size.1) };
            Picture { size, lanes, look, name: format!("{}-{what}-{}", self.name(), look.name()) }
        });
        named.filter(|picture| args.wants(&picture.name)).collect()
    }

    /// Whether a round shows what its mode is about.
    fn is_shown_by(self, round: &Round) -> bool {
        match self.mode {
            Mode::Deadline => round.answered() > 0 && round.missing() > 0,
            Mode::Quorum => round.not_needed() > 0 && !round.partial(),
            Mode::Hedge => round.calls.iter().any(|c| c.outcome == Outcome::Ok && c.hedges.won > 0),
            Mode::WaitAll | Mode::FailFast => true,
        }
    }
}

/// A picture of a scene.
#[derive(Debug)]
struct Picture {
    /// Columns and rows of the screen.
    size: (u16, u16),
    /// Whether only its lanes are shown.
    lanes: bool,
    look: Look,
    name: String,
}

/// The rows of a screen that hold the lanes and the axis above them.
fn lanes_of(screen: &Buffer) -> Result<Buffer, Box<dyn Error>> {
    let Rect { width, height, .. } = screen.area;
    let row = |y: u16| (0..width).filter_map(|x| screen.cell((x, y))).map(Cell::symbol).collect::<String>();
    let end = (ABOVE..height)
        .find(|&y| BELOW.iter().any(|title| row(y).trim_start().starts_with(title)))
        .ok_or("the lanes have no end")?;
    let mut lanes = Buffer::empty(Rect::new(0, 0, width, end - ABOVE));
    for (x, y) in (ABOVE..end).flat_map(|y| (0..width).map(move |x| (x, y))) {
        if let (Some(from), Some(to)) = (screen.cell((x, y)), lanes.cell_mut((x, y - ABOVE))) {
            to.clone_from(from);
        }
    }
    Ok(lanes)
}

/// A session's screens, with and without colour, fed as the dashboard feeds its own.
struct Screens {
    session: Session,
    rich: App,
    plain: App,
    /// Rounds that run.
    running: BTreeSet<RoundNo>,
}

impl Screens {
    fn start(scene: Scene) -> Result<Self, Box<dyn Error>> {
        let probe = (scene.moment == Moment::Tradeoff).then_some(PROBE);
        let overrides = Overrides { mode: Some(scene.mode), seed: Some(SEED), probe, ..Overrides::default() };
        let choice = Choice { targets: vec![scene.profile.to_owned()], headers: Vec::new(), overrides };
        let profile = choose(&choice)?;
        let app =
            |ascii, colour| App::new(tui::setup(&profile, Options { ascii, colour, ..Options::default() }));
        let (rich, plain) = (app(false, Colour::Ansi16), app(true, Colour::Mono));
        Ok(Self { session: Session::start(profile, Plan::default())?, rich, plain, running: BTreeSet::new() })
    }

    /// Tells the screens what happened next, and returns it.
    async fn next(&mut self) -> Result<Event, Box<dyn Error>> {
        let event = self.session.next().await.ok_or("the engine stopped")?;
        match &event {
            Event::Failed(why) => return Err(why.clone().into()),
            Event::RoundStarted(started) => drop(self.running.insert(started.round)),
            Event::RoundSettled { round, .. } => drop(self.running.remove(&round.no)),
            _ => {}
        }
        self.tell(&Message::Engine(event.clone()));
        Ok(event)
    }

    fn tell(&mut self, message: &Message) {
        for app in [&mut self.rich, &mut self.plain] {
            // No key that is pressed here changes anything outside.
            update(app, message.clone());
        }
    }

    /// Watches until a round settles that shows what its mode is about, while no other runs.
    async fn settled(&mut self, scene: Scene, watch: Duration) -> Result<(), Box<dyn Error>> {
        loop {
            let event = self.next().await?;
            let at = self.session.elapsed();
            let Event::RoundSettled { round, .. } = event else { continue };
            if at >= watch && self.running.is_empty() && (scene.is_shown_by(&round) || at >= watch + CHOOSY) {
                return Ok(());
            }
        }
    }

    /// Watches until a round that runs alone has come so far.
    async fn midway(&mut self, watch: Duration) -> Result<(), Box<dyn Error>> {
        let mut until = None;
        loop {
            let left = until.map(|until: Duration| until.saturating_sub(self.session.elapsed()));
            match tokio::time::timeout(left.unwrap_or(PATIENCE), self.next()).await {
                Err(_) if until.is_some() => return Ok(()),
                Err(_) => return Err("no round starts".into()),
                Ok(event) => match event? {
                    Event::RoundStarted(started) if started.at >= watch && self.running.len() == 1 => {
                        until = Some(started.at + MIDWAY);
                    }
                    Event::RoundStarted(_) | Event::RoundSettled { .. } => until = None,
                    _ => {}
                },
            }
        }
    }

    /// Watches until the scene's moment has come.
    async fn watch(&mut self, scene: Scene, watch: Duration) -> Result<(), Box<dyn Error>> {
        let all = watch + CHOOSY + PATIENCE;
        let moment = async {
            match scene.moment {
                Moment::Settled | Moment::Tradeoff => self.settled(scene, watch).await,
                Moment::Running => self.midway(watch).await,
            }
        };
        tokio::time::timeout(all, moment).await.map_err(|_| "no moment to show")??;
        let now = self.session.elapsed();
        self.tell(&Message::Tick(now));
        self.tell(&Message::Outlook(Box::new(self.rich.question().answer())));
        if scene.moment == Moment::Tradeoff {
            self.tell(&Message::Action(Action::Tradeoff));
        }
        Ok(())
    }

    fn draw(&self, scene: Scene, picture: &Picture) -> Result<String, Box<dyn Error>> {
        let (width, height) = picture.size;
        let mut app = if picture.look == Look::Ascii { self.plain.clone() } else { self.rich.clone() };
        update(&mut app, Message::Resized(width, height));
        let mut terminal = Terminal::new(TestBackend::new(width, height))?;
        terminal.draw(|frame| view::draw(&app, frame))?;
        let title = format!("fanscope: profile {}, mode {}", scene.profile, scene.mode.as_str());
        let palette = picture.look.palette();
        let screen = terminal.backend().buffer();
        if picture.lanes {
            let description = "A round of calls as bars against the deadline, with how each came out.";
            return Ok(svg(&lanes_of(screen)?, &palette, Caption { title: &title, description }));
        }
        let description = format!(
            "The dashboard in a terminal of {width} columns and {height} rows: a round of calls as bars against \
             the deadline, what was missing and why, and the rounds before."
        );
        let caption = Caption { title: &title, description: &description };
        Ok(svg(screen, &palette, caption))
    }
}

/// Runs a scene and writes its pictures.
async fn show(scene: Scene, args: &Args) -> Result<(), Box<dyn Error>> {
    let mut screens = Screens::start(scene)?;
    screens.watch(scene, Duration::from_secs(args.seconds)).await?;
    for picture in scene.pictures(args) {
        let path = args.out().join(&picture.name).with_extension("svg");
        let picture = screens.draw(scene, &picture)?;
        std::fs::write(&path, &picture).map_err(|e| format!("{}: {e}", path.display()))?;
        writeln!(io::stdout(), "{} ({} bytes)", path.display(), picture.len())?;
    }
    screens.session.quit(GOODBYE).await;
    Ok(())
}

async fn pictures(args: &Args) -> Result<(), Box<dyn Error>> {
    let scenes: Vec<Scene> = Scene::all().into_iter().filter(|s| !s.pictures(args).is_empty()).collect();
    if scenes.is_empty() {
        return Err("no picture has such a name; `--all` has more of them".into());
    }
    let out = args.out();
    std::fs::create_dir_all(&out).map_err(|e| format!("{}: {e}", out.display()))?;
    let shown = scenes.into_iter().map(|scene| async move {
        show(scene, args).await.map_err(|error| format!("{}: {error}", scene.name()))
    });
    let results: Vec<_> = stream::iter(shown).buffer_unordered(AT_ONCE).collect().await;
    let failed: Vec<String> = results.into_iter().filter_map(Result::err).collect();
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n").into()) }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match pictures(&Args::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Where standard error is gone the exit code still says it.
            let _ = writeln!(io::stderr(), "pictures: {error}");
            ExitCode::FAILURE
        }
    }
}
