//! Undoes the content coding of a body as it comes in, so that bytes are counted both ways: as they came and as
//! they are meant.
//!
//! Decoders are pushed into: what they make goes on at once, 32 kB in each write to the sink, so that one that
//! refuses stops a bomb within those. Must not know what becomes of the bytes.

use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use reqwest::header::{self, HeaderMap};
use std::io::{self, ErrorKind, Write};

/// The largest window that a zstd body may ask for: 8 MiB, as RFC 9659 has it. A frame's head can ask for much
/// more memory than its bytes are worth.
const ZSTD_WINDOW_LOG: u32 = 23;

/// How a body is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coding {
    /// Not at all.
    Identity,
    /// gzip, also several members after each other.
    Gzip,
    /// `deflate`: zlib's format, or deflate without it, as many servers send.
    Deflate,
    /// zstd.
    Zstd,
    /// One that is not undone; its name where it is a known one, so that nothing an upstream wrote is repeated.
    Other(&'static str),
}

impl Coding {
    /// Whether there is something to undo.
    pub(super) const fn is_undone(self) -> bool {
        matches!(self, Self::Gzip | Self::Deflate | Self::Zstd)
    }

    /// The coding that an answer's `Content-Encoding` names. Several on top of each other are not undone.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let mut codings = headers
            .get_all(header::CONTENT_ENCODING)
            .iter()
            .flat_map(|value| value.as_bytes().split(|&b| b == b','))
            .map(|name| name.trim_ascii().to_ascii_lowercase())
            .filter(|name| !matches!(name.as_slice(), b"" | b"identity"));
        let Some(first) = codings.next() else { return Self::Identity };
        if codings.next().is_some() {
            return Self::Other("several codings");
        }
        match first.as_slice() {
            b"gzip" | b"x-gzip" => Self::Gzip,
            b"deflate" => Self::Deflate,
            b"zstd" => Self::Zstd,
            b"br" => Self::Other("br"),
            b"compress" | b"x-compress" => Self::Other("compress"),
            b"dcb" => Self::Other("dcb"),
            b"dcz" => Self::Other("dcz"),
            _ => Self::Other("an unknown coding"),
        }
    }

    /// The same, not undone: a part of an encoded body can't be.
    pub(super) const fn as_it_comes(self) -> Self {
        match self {
            Self::Identity => Self::Identity,
            coding => Self::Other(coding.name()),
        }
    }

    /// Its name.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Zstd => "zstd",
            Self::Other(name) => name,
        }
    }
}

/// Undoes a coding, into `W`.
pub(super) struct Decoder<W: Write> {
    coding: Coding,
    /// The sink until there is something to decode: a body without bytes is empty in every coding.
    waiting: Option<W>,
    begun: Option<Begun<W>>,
}

impl<W: Write> Decoder<W> {
    /// Nothing has come yet.
    pub(super) const fn new(coding: Coding, to: W) -> Self {
        Self { coding, waiting: Some(to), begun: None }
    }

    /// Takes what came; everything that it makes has gone on when this returns.
    ///
    /// # Errors
    ///
    /// The sink's own, or what is wrong with the coding.
    pub(super) fn feed(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        let Some(&first) = bytes.first() else { return Ok(()) };
        if let Some(to) = self.waiting.take() {
            self.begun = Some(Begun::new(self.coding, first, to)?);
        }
        let Some(begun) = &mut self.begun else { return Ok(()) };
        let writer = begun.writer();
        while !bytes.is_empty() {
            let taken = writer.write(bytes)?;
            if taken == 0 {
                return Err(io::Error::new(ErrorKind::InvalidData, "bytes after the end of what is encoded"));
            }
            bytes = bytes.get(taken..).unwrap_or_default();
        }
        writer.flush()
    }

    /// The body is over.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::UnexpectedEof`] where more should have come, else what is wrong with the coding.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.begun.as_mut().map_or(Ok(()), Begun::finish)
    }

    /// Where it all goes; `None` once it could not begin.
    pub(super) fn sink(&self) -> Option<&W> {
        self.waiting.as_ref().or_else(|| self.begun.as_ref().map(Begun::sink))
    }
}

/// A decoder that has had its first byte.
enum Begun<W: Write> {
    /// There is nothing to undo.
    Plain(W),
    Gzip(Box<MultiGzDecoder<W>>),
    /// Deflate in zlib's format.
    Zlib(Box<ZlibDecoder<W>>),
    /// Deflate alone.
    Deflate(Box<DeflateDecoder<W>>),
    Zstd(Box<zstd::stream::write::Decoder<'static, W>>),
}

impl<W: Write> Begun<W> {
    fn new(coding: Coding, first: u8, to: W) -> io::Result<Self> {
        Ok(match coding {
            Coding::Identity | Coding::Other(_) => Self::Plain(to),
            Coding::Gzip => Self::Gzip(Box::new(MultiGzDecoder::new(to))),
            // zlib's method in the low bits. Plain deflate only begins so with padding that no encoder writes.
            Coding::Deflate if first & 0x0f == 8 => Self::Zlib(Box::new(ZlibDecoder::new(to))),
            Coding::Deflate => Self::Deflate(Box::new(DeflateDecoder::new(to))),
            Coding::Zstd => {
                let mut decoder = zstd::stream::write::Decoder::new(to)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG)?;
                Self::Zstd(Box::new(decoder))
            }
        })
    }

    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::Plain(to) => to,
            Self::Gzip(decoder) => decoder,
            Self::Zlib(decoder) => decoder,
            Self::Deflate(decoder) => decoder,
            Self::Zstd(decoder) => decoder,
        }
    }

    fn sink(&self) -> &W {
        match self {
            Self::Plain(to) => to,
            Self::Gzip(decoder) => decoder.get_ref(),
            Self::Zlib(decoder) => decoder.get_ref(),
            Self::Deflate(decoder) => decoder.get_ref(),
            Self::Zstd(decoder) => decoder.get_ref(),
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(to) => to.flush(),
            Self::Gzip(decoder) => decoder.try_finish().map_err(|error| {
                // A trailer that is too short and one that is wrong look alike, but only the first takes a byte.
                let short = error.kind() != ErrorKind::UnexpectedEof && decoder.write(&[0]).is_ok();
                if short {
                    io::Error::new(ErrorKind::UnexpectedEof, "incomplete gzip trailer")
                } else {
                    error
                }
            }),
            Self::Zlib(decoder) => decoder.try_finish(),
            Self::Deflate(decoder) => decoder.try_finish(),
            Self::Zstd(decoder) => decoder.do_finish(),
        }
    }
}

#[cfg(test)]
mod tests;
