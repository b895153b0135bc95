//! Programs that a device runs, built once: kept in memory, and in a folder where one is given, so
//! that the next process need not build them. The processor's kernels are compiled into the library:
//! its cache stays empty.

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{Kind, Result};

const MAGIC: &[u8; 8] = b"wickkrn1";

/// What a cache holds and has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)]
pub struct Kept {
    pub entries: u64,
    pub bytes: u64,
    pub built: u64,
    pub read: u64,
    pub hits: u64,
}

/// Programs by operation.
pub struct KernelCache {
    /// Programs of another device, or library, are not taken.
    device: String,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    programs: HashMap<String, Arc<[u8]>>,
    folder: Option<PathBuf>,
    kept: Kept,
}

impl KernelCache {
    /// For the device of a name.
    pub fn new(device: &str) -> KernelCache {
        let device = format!("{} {device}", env!("CARGO_PKG_VERSION"));
        KernelCache { device, inner: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps programs in a folder, too, which is made where it is missing; none: in memory alone.
    pub fn set_folder(&self, folder: Option<&Path>) -> Result<()> {
        if let Some(path) = folder {
            fs::create_dir_all(path).map_err(|e| Kind::Format {
                op: "kernel_cache",
                path: path.display().to_string(),
                expected: e.to_string().into(),
            })?;
        }
        self.lock().folder = folder.map(Path::to_owned);
        Ok(())
    }

    /// What it holds and has done.
    pub fn kept(&self) -> Kept {
        self.lock().kept
    }

    /// Forgets the programs in memory; files stay.
    pub fn clear(&self) {
        let mut inner = self.lock();
        inner.programs.clear();
        (inner.kept.entries, inner.kept.bytes) = (0, 0);
    }

    /// The program of a name: kept, read from the folder, or built, by one thread where several ask.
    pub fn get(&self, name: &str, build: impl FnOnce() -> Result<Vec<u8>>) -> Result<Arc<[u8]>> {
        let mut inner = self.lock();
        if let Some(program) = inner.programs.get(name).cloned() {
            inner.kept.hits += 1;
            return Ok(program);
        }
        let file = inner.folder.as_ref().map(|f| f.join(format!("{:016x}.kernel", self.key(name))));
        let program: Arc<[u8]> = match file.as_ref().and_then(|f| self.read(f, name)) {
            Some(program) => {
                inner.kept.read += 1;
                program.into()
            }
            None => {
                let program = build()?;
                inner.kept.built += 1;
                if let Some(file) = file {
                    // A folder that cannot be written to costs the next process time, not this one
                    // its result.
                    let _ = self.write(&file, name, &program);
                }
                program.into()
            }
        };
        inner.kept.entries += 1;
        inner.kept.bytes += program.len() as u64;
        inner.programs.insert(name.to_owned(), Arc::clone(&program));
        Ok(program)
    }

    fn key(&self, name: &str) -> u64 {
        hash(self.head(name).as_bytes())
    }

    fn head(&self, name: &str) -> String {
        format!("{}\n{name}", self.device)
    }

    /// Magic, hash of all that follows, length of the head, head, program.
    fn write(&self, file: &Path, name: &str, program: &[u8]) -> std::io::Result<()> {
        let head = self.head(name);
        let mut rest = (head.len() as u32).to_le_bytes().to_vec();
        rest.extend_from_slice(head.as_bytes());
        rest.extend_from_slice(program);
        // Whole under its name, or not there: other processes read the folder, too.
        let part = file.with_extension(format!("{}", std::process::id()));
        let mut out = fs::File::create(&part)?;
        out.write_all(MAGIC)?;
        out.write_all(&hash(&rest).to_le_bytes())?;
        out.write_all(&rest)?;
        drop(out);
        fs::rename(&part, file)
    }

    /// A file that is cut, changed or another's is as none.
    fn read(&self, file: &Path, name: &str) -> Option<Vec<u8>> {
        let bytes = fs::read(file).ok()?;
        let rest = bytes.strip_prefix(MAGIC)?;
        let (sum, rest) = rest.split_at_checked(8)?;
        if sum != hash(rest).to_le_bytes() {
            return None;
        }
        let (length, rest) = rest.split_at_checked(4)?;
        let length = u32::from_le_bytes(length.try_into().ok()?) as usize;
        let (head, program) = rest.split_at_checked(length)?;
        (head == self.head(name).as_bytes()).then(|| program.to_vec())
    }
}

/// FNV-1a, 64 bits.
fn hash(bytes: &[u8]) -> u64 {
    let step = |h: u64, b: &u8| (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}
