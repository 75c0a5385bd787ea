//! A call as a curl command on the clipboard of whoever looks, through the terminal (OSC 52): also from the other end of
//! an ssh. Nobody says whether the terminal takes it, so the command stands in the call's detail as well.

use super::run::Loop;
use super::source::Source;
use super::surface::Surface;
use crate::app::{Copied, Message, Notice, Wanted};
use crate::profile::CurlCall;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use crossterm::event::Event as Input;
use futures_util::Stream;
use std::io;

/// Most bytes that terminals are known to take, in base64.
const MOST: usize = 74_994;

/// What puts a text on the clipboard; `None` where it is too long for terminals.
pub(super) fn sequence(text: &str) -> Option<String> {
    let coded = BASE64_STANDARD.encode(text);
    (coded.len() <= MOST).then(|| format!("\x1b]52;c;{coded}\x07"))
}

impl<X, S, I> Loop<'_, X, S, I>
where
    X: Source,
    S: Surface,
    I: Stream<Item = io::Result<Input>> + Unpin,
{
    /// Copies a call, and says where its command is to be read.
    pub(super) fn copy(&mut self, wanted: Wanted) {
        let Wanted { endpoint, replica, round } = wanted;
        let notice = match self.source.curl(&CurlCall { endpoint, replica, round }) {
            Ok(command) => {
                let sent = sequence(&command).is_some_and(|bytes| self.surface.send_raw(&bytes).is_ok());
                self.tell(Message::Copied(Copied { endpoint, command }));
                if sent {
                    Notice::Done("copied as curl; also in the call's detail (Enter)".to_owned())
                } else {
                    Notice::Failed("too long for a terminal's clipboard: see the call's detail".to_owned())
                }
            }
            Err(why) => Notice::Failed(format!("no curl command: {why}")),
        };
        self.say(notice);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_goes_out_as_base64_and_moves_no_cursor() {
        assert_eq!(sequence("curl 'a'").as_deref(), Some("\x1b]52;c;Y3VybCAnYSc=\x07"));
        assert_eq!(sequence(&"x".repeat(60_000)), None);
    }
}
